package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// EXE-06: a snooze uses no retry and is no failure: after a thousand of them the whole
// budget is left, and the row that says where the job stands is no wider. Each waits its
// hundred milliseconds, by a clock of the database that runs twenty times as fast.
func TestEXE06SnoozeUsesNoBudget(t *testing.T) {
	t.Parallel()
	const snoozes, rate = 1000, 20
	type seen struct{ Retry, MaxRetries, Width int }
	runs := make(chan seen, 2+snoozes)
	db, _ := skewed(t, 0)
	shift(t, db, `update skew.clock set since = pg_catalog.clock_timestamp(), rate = $1`, rate)
	cfg := quickly()
	cfg.Lease, cfg.Heartbeat, cfg.Poll = rate*20*time.Second, time.Second, 10*time.Millisecond
	r := startOn(t, db, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		s := seen{Retry: j.Retry, MaxRetries: j.MaxRetries}
		if j.Attempt == 2 || j.Attempt == snoozes {
			s.Width = ask[int](t, db, `select pg_column_size(running) from tekrar.running where job_id = $1`, j.ID)
		}
		runs <- s
		if j.Attempt <= snoozes {
			return jobs.Snooze(0)
		}
		return errPaper
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{0}})))
	t.Cleanup(func() {
		r.stop()
		check(t, db)
	})
	id := r.put(task{})
	var widths []int
	for range snoozes + 1 {
		s := <-runs
		same(t, seen{0, 1, s.Width}, s)
		if s.Width > 0 {
			widths = append(widths, s.Width)
		}
	}
	same(t, seen{1, 1, 0}, <-runs)
	same(t, 2, len(widths))
	same(t, widths[0], widths[1])
	short := ask[int](t, db, `select count(*) from (select state, at - lag(at) over (order by id) as waited from tekrar.history where reason is distinct from $1) h
		where state = $2 and waited < $3 * interval '1 us'`, "Retry attempt 1 of 1: out of paper", store.Enqueued, jobs.MinSnooze.Microseconds())
	same(t, 0, short)
	d := r.waitFor(id, store.Failed)
	same(t, 2+snoozes*3+3+1, d.HistoryTotal) // enqueued, processing; each snoozed, enqueued, processing; failed, retry, processing; failed
	got := told(d)                           // the newest
	same(t, []string{"scheduled: Snoozed", "enqueued: Triggered by scheduler", "processing",
		"failed: An error occurred during attempt 1001", "enqueued: Retry attempt 1 of 1: out of paper",
		"processing", "failed: An error occurred during attempt 1002"}, got[len(got)-7:])
	same(t, 2, ask[int](t, r.db, `select count(*) from tekrar.history where state = $1`, store.Failed))
	same(t, snoozes, ask[int](t, r.db, `select sum(n) from tekrar.stats where outcome = $1`, store.OutcomeSnoozed))
}
