package web

import (
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// planned are the attempts that come if each fails at once, from the bands of the
// published policy, and when the last of them would start. It counts from when the
// job came into its state and not from now, so that the picture stands still while
// nothing happens.
func planned(d store.JobDetail) ([]views.PlannedRetry, *time.Time) {
	policy, err := jobs.ParsePolicy(d.Policy)
	if err != nil {
		return nil, nil
	}
	attempt, from := d.Attempt+1, d.Since
	var out []views.PlannedRetry
	switch d.State {
	case store.Scheduled:
		if d.RunAt == nil {
			return nil, nil
		}
		from = *d.RunAt
		out = append(out, views.PlannedRetry{Attempt: attempt, From: from, To: from})
		attempt++
	case store.Enqueued:
		attempt++
	case store.Processing:
	default:
		return nil, nil
	}
	to := from
	for n := d.Retry + 1; n <= policy.MaxRetries && n <= len(policy.Bands); n++ {
		band := policy.Bands[n-1]
		from = from.Add(time.Duration(band.MinMS) * time.Millisecond)
		to = to.Add(time.Duration(band.MaxMS) * time.Millisecond)
		out = append(out, views.PlannedRetry{Attempt: attempt, From: from, To: to})
		attempt++
	}
	if len(out) == 0 || len(policy.Bands) < policy.MaxRetries {
		return out, nil
	}
	return out, &to
}
