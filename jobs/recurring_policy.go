package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

// retryWarning says when the policy of a recurring job's jobs waits for longer
// than the schedule pauses; empty: it does not, or nobody knows.
func (c *Client) retryWarning(ctx context.Context, r store.RecurringRow) string {
	s, err := scheduleOf(r)
	if err != nil {
		return ""
	}
	p, ok := c.recurringPolicy(ctx, r.Kind, r.Policy)
	if !ok {
		return ""
	}
	conflict, found := schedule.WarnRetry(longestWaits(p), s, time.Now())
	if !found {
		return ""
	}
	return conflict.String()
}

// recurringPolicy is the policy that will apply to the jobs; false when only a
// server elsewhere knows it.
func (c *Client) recurringPolicy(ctx context.Context, kind string, own json.RawMessage) (RetryPolicy, bool) {
	if len(own) > 0 {
		return readPolicy(own)
	}
	if h := c.handlerOf(kind); h != nil {
		p, _ := effectivePolicy(nil, h.policy, c.cfg.Retry)
		return p, true
	}
	kinds, err := c.db.Kinds(ctx)
	if err != nil {
		return RetryPolicy{}, false
	}
	for _, k := range kinds {
		if k.Kind == kind {
			return readPolicy(k.Policy)
		}
	}
	return RetryPolicy{}, false
}

func readPolicy(raw json.RawMessage) (RetryPolicy, bool) {
	published, err := ParsePolicy(raw)
	if err != nil {
		return RetryPolicy{}, false
	}
	p, err := published.RetryPolicy()
	return p, err == nil
}

// longestWaits gives the upper end of each wait, none for a function, which only
// the failure itself can ask.
func longestWaits(p RetryPolicy) []time.Duration {
	if p.Delays == nil && p.Backoff.kind == backoffFunc {
		return nil
	}
	var waits []time.Duration
	for n := 1; n <= min(p.MaxRetries, MaxDelays); n++ {
		_, longest := p.WaitBand(n)
		waits = append(waits, longest)
	}
	return waits
}
