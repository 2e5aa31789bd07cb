package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

// fired is the conformance rows' trigger: hourly, fired at ten, failing at once.
var fired = time.Date(2026, 3, 10, 10, 0, 0, 0, time.UTC)

func everyHour(t *testing.T, end time.Duration) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse("0 * * * *", "UTC")
	if err == nil && end != 0 {
		s, err = s.Within(schedule.Bounds{End: fired.Add(end)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func waits(list ...time.Duration) RetryPolicy {
	return RetryPolicy{MaxRetries: len(list), Delays: list}
}

// Quartz.NET's rows 102 to 115: a retry never displaces the next fire, and none
// starts after the end.
func TestConformanceRetriesBeforeTheNextFire_Rows102to115(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	for _, c := range []struct {
		row   string
		p     RetryPolicy
		retry int
		after time.Duration // of the failure, from the fire
		end   time.Duration
		err   error
		state store.State
		next  time.Duration // of the retry, from the fire
		rule  string
	}{
		{"102 fixed", waits(5*time.Minute, 5*time.Minute, 5*time.Minute), 0, 0, 0, plain, store.Scheduled, 5 * time.Minute, "retry 1 of 3"},
		{"103 the second wait counts from the second failure", waits(time.Minute, 2*time.Minute, 4*time.Minute), 1, time.Minute, 0, plain, store.Scheduled, 3 * time.Minute, "retry 2 of 3"},
		{"104 success", waits(time.Minute), 0, 0, 0, nil, store.Succeeded, 0, ""},
		{"105 third failure of two retries", waits(time.Minute, time.Minute), 2, 2 * time.Minute, 0, plain, store.Failed, 0, "retry budget used up (2 of 2)"},
		{"106 90 min", waits(90 * time.Minute), 0, 0, 0, plain, store.Failed, 0, "retry dropped: it would start at 2026-03-10 11:30:00 UTC and the next fire is at 2026-03-10 11:00:00 UTC"},
		{"107 59:59", waits(time.Hour - time.Second), 0, 0, 0, plain, store.Failed, 0, "retry dropped: it would start at 2026-03-10 10:59:59 UTC and the next fire is at 2026-03-10 11:00:00 UTC"},
		{"107 one tick less", waits(time.Hour - time.Second - us), 0, 0, 0, plain, store.Scheduled, time.Hour - time.Second - us, "retry 1 of 1"},
		{"107 at once, but the next fire comes", waits(0), 0, time.Hour - time.Second, 0, plain, store.Failed, 0, "retry dropped: it would start at 2026-03-10 10:59:59 UTC and the next fire is at 2026-03-10 11:00:00 UTC"},
		{"108 after the end", waits(5 * time.Minute), 0, 0, 2 * time.Minute, plain, store.Failed, 0, "retry dropped: it would start at 2026-03-10 10:05:00 UTC and the schedule ends at 2026-03-10 10:02:00 UTC"},
		{"109 exactly at the end", waits(5 * time.Minute), 0, 0, 5 * time.Minute, plain, store.Scheduled, 5 * time.Minute, "retry 1 of 1"},
		{"110 no policy", NoRetry(), 0, 0, 0, plain, store.Failed, 0, "no retries (MaxRetries is 0)"},
		{"111 cancellation", waits(time.Minute), 0, 0, 0, Cancel(plain), store.Deleted, 0, "cancelled by its handler"},
		{"112 the handler's own wish wins", waits(time.Minute), 0, 0, 0, Snooze(90 * time.Minute), store.Scheduled, 90 * time.Minute, "snoozed by its handler; no retry used"},
		{"113 the handler's own end wins", waits(time.Minute), 0, 0, 0, Permanent(plain), store.Failed, 0, "permanent error"},
		{"RetryAfter is a retry", waits(time.Minute), 0, 0, 0, RetryAfter(plain, 2*time.Hour), store.Failed, 0, "retry dropped: it would start at 2026-03-10 12:00:00 UTC and the next fire is at 2026-03-10 11:00:00 UTC"},
		{"OnExceeded", RetryPolicy{MaxRetries: 1, Delays: []time.Duration{2 * time.Hour}, OnExceeded: Delete}, 0, 0, 0, plain, store.Failed, 0, "retry dropped: it would start at 2026-03-10 12:00:00 UTC and the next fire is at 2026-03-10 11:00:00 UTC"},
	} {
		t.Run(c.row, func(t *testing.T) {
			res := result{Err: c.err, Upcoming: upcoming{schedule: everyHour(t, c.end), failedAt: fired.Add(c.after)}}
			d := decide(res, c.p, counters{Attempt: c.retry + 1, Retry: c.retry}, zero)
			if d.State != c.state || d.Rule != c.rule {
				t.Errorf("%v by %q, want %v by %q", d.State, d.Rule, c.state, c.rule)
			}
			if got := c.after + d.Delay; d.State == store.Scheduled && got != c.next {
				t.Errorf("retry %v after the fire, want %v", got, c.next)
			}
			if d.State == store.Failed && (d.Next.Retry != c.retry || d.ViaFailed || d.Delay != 0) {
				t.Errorf("a dropped retry was counted: %+v", d)
			}
		})
	}
}

// Row 114: without a next fire a retry waits as long as the policy says; so it is
// after the last fire of a schedule, and for a job that no schedule made.
func TestConformanceOneShot_Row114(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]upcoming{
		"no recurring job": {}, "stopped meanwhile": {failedAt: fired},
	} {
		d := decide(result{Err: plain, Upcoming: u}, waits(48*time.Hour), counters{Attempt: 1}, zero)
		if d.State != store.Scheduled || d.Delay != 48*time.Hour {
			t.Errorf("%s: %v %v", name, d.State, d.Delay)
		}
	}
}

// Row 115: of 20 retries with waits of 1 s, 10 s, 100 s, ... those that start
// before the next fire, a year away, are made; then it settles.
func TestConformanceExponential_Row115(t *testing.T) {
	t.Parallel()
	s, err := schedule.Parse("0 10 10 3 *", "UTC")
	if err != nil {
		t.Fatal(err)
	}
	p := RetryPolicy{MaxRetries: 20, Backoff: Exponential(time.Second, 10, MaxWait, 0)}
	c, now := counters{}, fired
	for {
		c.Attempt++
		d := decide(result{Err: plain, Upcoming: upcoming{schedule: s, failedAt: now}}, p, c, zero)
		c, now = d.Next, now.Add(d.Delay)
		if d.State == store.Failed {
			break
		}
	}
	// Seven waits up to 10⁶ s add up to 13 days; then 30 days each, the cap: 11 more
	// fit into the year.
	if c.Retry != 7+11 || !now.Before(fired.AddDate(1, 0, 0)) {
		t.Errorf("%d retries, the last at %v", c.Retry, now)
	}
}

// Rows 116 to 118: a retry moves nothing: whatever the kind of schedule, the next
// fire after it is the one before it.
func TestConformanceNextFireStays_Rows116to118(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"0 * * * *", "0 0 * * * *", "@hourly", "@every 1h", "0 10-12 * * 2"} {
		r := store.RecurringRow{Spec: spec, Zone: "UTC", CreatedAt: fired}
		s, err := scheduleOf(r)
		if err != nil {
			t.Fatal(err)
		}
		failed := fired.Add(time.Minute)
		d := decide(result{Err: plain, Upcoming: upcoming{schedule: s, failedAt: failed}}, waits(10*time.Minute), counters{Attempt: 1}, zero)
		if next := s.Next(failed.Add(d.Delay)); d.State != store.Scheduled || !next.Equal(fired.Add(time.Hour)) {
			t.Errorf("%s: %v, then %v", spec, d.State, next)
		}
	}
}

// A wait that outlives the interval is said at registration; one that fits is not.
func TestWaitsThatOutliveTheIntervalAreWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    RetryPolicy
		warn bool
	}{
		{waits(time.Minute, 30*time.Minute), false},
		{waits(time.Minute, time.Hour-time.Second), true},
		{DefaultRetry(), true},
		{NoRetry(), false},
		{RetryPolicy{MaxRetries: 3, Backoff: Func(func(int, error) time.Duration { return time.Hour })}, false},
	} {
		conflict, found := schedule.WarnRetry(longestWaits(c.p), everyHour(t, 0), fired)
		if found != c.warn {
			t.Errorf("%+v: %v %v", c.p, found, conflict)
		}
	}
}

// The look-up of the next fire fails: the retry stays.
func TestUnknownNextFireLeavesTheRetry(t *testing.T) {
	t.Parallel()
	db, err := Open("postgres://nobody@127.0.0.1:1/none?sslmode=disable&connect_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := New(db, Config{})
	if err != nil {
		t.Fatal(err)
	}
	c.log = slog.New(slog.DiscardHandler)
	e := newEngine(c)
	a := &attempt{Claimed: store.Claimed{RecurringID: "r", StartedAt: fired}}
	if u := e.firer.upcoming(a); u.drop(100*24*time.Hour) != "" {
		t.Error("dropped")
	}
	if _, err := db.RecurringRule(context.Background(), "r"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Error(fmt.Sprint("the database was there: ", err))
	}
}
