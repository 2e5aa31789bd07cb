package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// fireNow makes an interval due as if it had been stored at this moment: the next
// fire after it is a whole interval away.
func fireNow(t testing.TB, r *running, id string) {
	t.Helper()
	eventually(t, "it is stored", func() bool {
		return ask[int](t, r.db, `select count(*) from tekrar.recurring where id = $1`, id) == 1
	})
	shift(t, r.db, `with n as (select clock_timestamp() as t)
		update tekrar.recurring set created_at = (select t from n), next_run = (select t from n) where id = $1`, id)
}

// fired waits for fire number n (1-based) of a recurring job and gives its job.
func fired(t testing.TB, r *running, id string, n int) int64 {
	t.Helper()
	var row store.RecurringRow
	eventually(t, "it has fired", func() bool { row = recurring(t, r.db, id); return len(row.Last) >= n })
	return *row.Last[len(row.Last)-n].JobID
}

// RTY-07 and row 105: with one retry a fire runs twice, then it has failed, and
// the schedule goes on.
func TestRTY07TwoRunsAFire(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), ticks(func(context.Context, *jobs.Job[task]) error { return errPaper }, "minutely", "@every 1m",
		jobs.RecurringRetry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{10 * time.Millisecond}})))
	want := []string{"enqueued", "processing", "failed: An error occurred during attempt 1", "scheduled: Retry attempt 1 of 1: out of paper",
		"enqueued: Triggered by scheduler", "processing", "failed: An error occurred during attempt 2"}
	for n := 1; n <= 2; n++ {
		fireNow(t, r, "minutely")
		d := r.waitFor(fired(t, r, "minutely", n), store.Failed)
		eventually(t, "both runs are over", func() bool { d = r.detail(d.ID); return len(d.History) == len(want) })
		same(t, want, told(d))
		if row := recurring(t, r.db, "minutely"); row.NextRun == nil || !row.NextRun.Equal(row.CreatedAt.Add(time.Minute)) {
			t.Errorf("next fire %v after %v", row.NextRun, row.CreatedAt)
		}
	}
	same(t, 2, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
	same(t, []string{"enqueued failed", "enqueued failed"}, fires(recurring(t, r.db, "minutely")))
}

// RTY-08: fire k waits for its retry while fire k+1 runs: both are jobs of their
// own with a history of their own.
func TestRTY08AFailedFireStaysVisible(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	r := start(t, quickly(), ticks(func(ctx context.Context, j *jobs.Job[task]) error {
		if j.Attempt > 1 || j.ID > 1 {
			return nil
		}
		<-next // the first attempt ends after fire k+1 was made
		return errPaper
	}, "minutely", "@every 1m", jobs.RecurringRetry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{20 * time.Second}})))
	fireNow(t, r, "minutely")
	one := fired(t, r, "minutely", 1)
	r.waitFor(one, store.Processing)
	fireNow(t, r, "minutely")
	two := fired(t, r, "minutely", 2)
	close(next)
	r.waitFor(one, store.Scheduled)
	r.waitFor(two, store.Succeeded)
	row := recurring(t, r.db, "minutely")
	same(t, []string{"enqueued scheduled", "enqueued succeeded"}, fires(row))
	if waits := row.Last[1]; waits.Retry != 1 || waits.Attempt != 1 || *waits.MaxRetries != 3 { // "retrying 1 of 3"
		t.Errorf("%+v", waits)
	}
	same(t, []string{"enqueued", "processing", "failed: An error occurred during attempt 1", "scheduled: Retry attempt 1 of 3: out of paper"}, told(r.detail(one)))
	same(t, []string{"enqueued", "processing", "succeeded"}, told(r.detail(two)))
}

// Rows 119 and 120: two failures, then success: attempts count, the fire time
// stays, every retry is counted once.
func TestAttemptsOfOneFire_Rows119and120(t *testing.T) {
	t.Parallel()
	type seen struct {
		Attempt, Retry int
		FireAt         time.Time
	}
	runs := make(chan seen, 10)
	r := start(t, quickly(), ticks(func(_ context.Context, j *jobs.Job[task]) error {
		runs <- seen{j.Attempt, j.Retry, j.FireAt}
		if j.Attempt < 3 {
			return errPaper
		}
		return nil
	}, "rates", "@every 5m", jobs.RecurringRetry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{10 * time.Millisecond}})))
	fireNow(t, r, "rates")
	id := fired(t, r, "rates", 1)
	r.waitFor(id, store.Succeeded)
	row := recurring(t, r.db, "rates")
	for n := range 3 {
		same(t, seen{n + 1, n, row.Last[0].FireAt}, <-runs)
	}
	same(t, 1, len(row.Last))
	same(t, 2, ask[int](t, r.db, `select sum(n) from tekrar.stats where outcome = 2`))
	if !row.NextRun.Equal(row.CreatedAt.Add(5 * time.Minute)) {
		t.Errorf("row 116: next fire %v", row.NextRun)
	}
}

// Row 106: a retry that would reach the next fire is dropped, and the history
// says so; row 121: without a policy a fire runs once. Row 114: while it is paused
// there is no next fire.
func TestARetryNeverDisplacesTheNextFire_Row106(t *testing.T) {
	t.Parallel()
	log := &loud{level: 4} // warnings
	cfg := quickly()
	cfg.Logger = slogOf(log)
	r := start(t, cfg, func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[task]) error { return errPaper })
		c.Recurring("long", "@every 1h", task{}, jobs.RecurringRetry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{90 * time.Minute}}))
		c.Recurring("none", "@every 1h", task{}, jobs.RecurringRetry(jobs.NoRetry()))
	})
	fireNow(t, r, "long")
	id := fired(t, r, "long", 1)
	d := r.waitFor(id, store.Failed)
	same(t, []string{"enqueued", "processing", "failed: An error occurred during attempt 1"}, told(d))
	same(t, 0, d.Retry)
	var data struct{ Rule string }
	if err := json.Unmarshal(d.History[0].Data, &data); err != nil {
		t.Fatal(err)
	}
	next := recurring(t, r.db, "long").NextRun.UTC().Format("2006-01-02 15:04:05.999999 UTC")
	if want := "and the next fire is at " + next; len(data.Rule) < len(want) || data.Rule[len(data.Rule)-len(want):] != want {
		t.Errorf("rule %q, want it to end in %q", data.Rule, want)
	}
	if w := recurring(t, r.db, "long").Warning; w == "" {
		t.Error("the page has no warning")
	}
	said := 0
	for _, line := range log.said() {
		if line[:min(len(line), 40)] == "retry policy does not fit its schedule r" {
			said++
		}
	}
	same(t, 1, said)
	same(t, "", recurring(t, r.db, "none").Warning)

	fireNow(t, r, "none")
	d = r.waitFor(fired(t, r, "none", 1), store.Failed)
	same(t, []string{"enqueued", "processing", "failed: An error occurred during attempt 1"}, told(d))

	if err := r.PauseRecurring(t.Context(), "ada", "long"); err != nil {
		t.Fatal(err)
	}
	run, err := r.RunRecurringNow(t.Context(), "ada", "long")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(run.ID, store.Scheduled)
}

// UNQ-06: the job of one fire still runs at the next: one job, and the fire is
// recorded as skipped.
func TestUNQ06RunningAtTheNextFire(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	r := start(t, quickly(), ticks(func(context.Context, *jobs.Job[task]) error { <-done; return nil }, "slow", "@every 1h", jobs.OverlapRule(jobs.OverlapSkip)))
	fireNow(t, r, "slow")
	id := fired(t, r, "slow", 1)
	r.waitFor(id, store.Processing)
	fireNow(t, r, "slow")
	eventually(t, "the second fire", func() bool { return len(recurring(t, r.db, "slow").Last) == 2 })
	same(t, []string{"enqueued processing", "skipped  skipped: job 1 has not finished"}, fires(recurring(t, r.db, "slow")))
	same(t, 1, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
	close(done)
	r.waitFor(id, store.Succeeded)
	fireNow(t, r, "slow")
	r.waitFor(fired(t, r, "slow", 3), store.Succeeded)
}

// Queue one: of the fires that come while a job runs, one waits for its end.
func TestQueueOneWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	done := make(chan struct{}, 10)
	var running, most int
	r := start(t, quickly(), ticks(func(context.Context, *jobs.Job[task]) error {
		running++ // the rule keeps it to one: the race detector would say otherwise
		most = max(most, running)
		<-done
		running--
		return nil
	}, "slow", "@every 1h", jobs.OverlapRule(jobs.OverlapQueueOne)))
	for n := 1; n <= 3; n++ {
		fireNow(t, r, "slow")
		eventually(t, "the fire", func() bool { return len(recurring(t, r.db, "slow").Last) == n })
		r.waitFor(1, store.Processing)
	}
	same(t, []string{"enqueued processing", "waiting  waits: job 1 has not finished", "skipped  skipped: job 1 has not finished"}, fires(recurring(t, r.db, "slow")))
	done <- struct{}{}
	eventually(t, "the waiting one runs", func() bool {
		f := recurring(t, r.db, "slow").Last[1]
		return f.Outcome == "enqueued" && f.State == store.Processing && f.Note == "waited for the job before it"
	})
	same(t, 2, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
	done <- struct{}{}
	r.waitFor(2, store.Succeeded)
	r.stop()
	same(t, 1, most)
}

// Kill -9 of the process that fires, between its look and its commit, five times:
// no fire is lost and none doubled.
func TestKilledWhileFiring(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	for range 5 {
		lock, err := db.Beginx()
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Rollback()
		if _, err := lock.Exec(`lock table tekrar.recurring_fires in exclusive mode`); err != nil {
			t.Fatal(err)
		}
		doomed := spawn(t, dsn, "doomed", workerTicks+"=1")
		eventually(t, "it has made the job and waits", func() bool {
			return ask[int](t, db, `select count(*) from pg_locks where not granted and mode = 'RowExclusiveLock' and relation = 'tekrar.recurring_fires'::regclass
				and database = (select oid from pg_database where datname = current_database())`) == 1
		})
		doomed.signal(syscall.SIGKILL)
		doomed.wait()
		if err := lock.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	r := startOn(t, db, worker(), on(func(context.Context, *jobs.Job[greet]) error { return errors.New("never") }))
	defer r.stop()
	before := ask[int](t, db, `select count(*) from tekrar.jobs`)
	eventually(t, "another server fires", func() bool { return ask[int](t, db, `select count(*) from tekrar.jobs`) > before+2 })
	r.stop()
	contiguous(t, db, "tick")
	check(t, db)
}
