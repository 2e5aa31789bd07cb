package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

// upcoming is what a retry of a recurring job has to leave alone. The zero value
// leaves every retry.
type upcoming struct {
	schedule schedule.Schedule // the zero schedule never fires
	failedAt time.Time         // database's clock
}

// drop gives the rule that forbids a retry after wait, empty if it may start. A
// retry never displaces the next fire, and none starts after the schedule's end.
func (u upcoming) drop(wait time.Duration) string {
	at := u.failedAt.Add(wait)
	if u.failedAt.IsZero() || u.schedule.RetryFits(u.failedAt, at) {
		return ""
	}
	text := "retry dropped: it would start at " + stamp(at) + " and the "
	if end := u.schedule.Bounds().End; !end.IsZero() && at.After(end) {
		return text + "schedule ends at " + stamp(end)
	}
	return text + "next fire is at " + stamp(u.schedule.Next(u.failedAt))
}

// rule is a schedule looked up for a poll. A paused or removed recurring job has
// no next fire: its schedule is the zero one.
type rule struct {
	schedule schedule.Schedule
	until    time.Time // local clock
}

// ruleTimeout bounds the look-up: an outcome must not wait for it. Without an
// answer the retry is left.
const ruleTimeout = 2 * time.Second

// upcoming looks up what a retry of a must leave alone.
func (f *firer) upcoming(a *attempt) upcoming {
	if a.RecurringID == "" {
		return upcoming{}
	}
	f.mu.Lock()
	known, ok := f.rules[a.RecurringID]
	f.mu.Unlock()
	if !ok || time.Now().After(known.until) {
		ctx, cancel := context.WithTimeout(context.Background(), ruleTimeout)
		defer cancel()
		s, err := f.lookUp(ctx, a.RecurringID)
		if err != nil {
			f.e.log.Warn("next fire not known; the retry stays", "recurring", a.RecurringID, "job_id", a.ID, "err", err)
			return upcoming{}
		}
		known = rule{schedule: s, until: time.Now().Add(recurringPoll)}
		f.mu.Lock()
		f.rules[a.RecurringID] = known
		f.mu.Unlock()
	}
	return upcoming{schedule: known.schedule, failedAt: a.StartedAt.Add(time.Since(a.since))}
}

func (f *firer) lookUp(ctx context.Context, id string) (schedule.Schedule, error) {
	r, err := f.e.db.RecurringRule(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && r.Stopped {
		return schedule.Schedule{}, nil
	}
	if err != nil {
		return schedule.Schedule{}, err
	}
	return scheduleOf(store.RecurringRow{Spec: r.Spec, Zone: r.Zone, StartAt: r.StartAt, EndAt: r.EndAt, CreatedAt: r.CreatedAt})
}
