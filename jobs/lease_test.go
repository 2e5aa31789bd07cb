package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// LSE-04: a job that runs for longer than a lease on a server that is well runs
// once: the lease is renewed, whatever the job's age.
func TestLongJobOfAHealthyServer_LSE04(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	began, finish := make(chan int, 9), make(chan struct{})
	handle := on(func(_ context.Context, j *jobs.Job[task]) error { began <- j.Attempt; <-finish; return nil })
	cfg := quickly()
	cfg.Workers = 1
	one := startOn(t, db, cfg, handle)
	defer one.stop()
	two := startOn(t, db, cfg, handle)
	defer two.stop()
	id := one.put(task{})
	same(t, 1, <-began)
	until := func() time.Time {
		return ask[time.Time](t, db, `select lease_until from tekrar.servers where id = (select server from tekrar.running)`)
	}
	first := until()
	eventually(t, "the job is older than its first lease, which was renewed twice", func() bool {
		return ask[time.Time](t, db, `select clock_timestamp()`).After(first) && until().Sub(first) > 2*cfg.Heartbeat
	})
	close(finish)
	same(t, []string{"enqueued", "processing", "succeeded"}, told(one.waitFor(id, store.Succeeded)))
	one.stop()
	two.stop()
	same(t, 0, len(began))
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers where lost_at is not null`))
	check(t, db)
}

// dead is a server that claimed what is enqueued on the default queue and whose
// lease has ended.
func dead(t *testing.T, db *store.DB, kinds ...string) {
	t.Helper()
	id, err := db.Register(t.Context(), store.NewServer{Name: "dead", Host: "h", Queues: []string{jobs.DefaultQueue}, Kinds: kinds, Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if claimed, err := db.Claim(t.Context(), id, []store.Lane{{Queue: jobs.DefaultQueue}}, kinds, 10); err != nil || len(claimed) == 0 {
		t.Fatal(claimed, err)
	}
	shift(t, db, `update tekrar.servers set lease_until = clock_timestamp() - interval '1 second' where id = $1`, id)
}

// UNQ-05: the holder of a key dies: the key is its job's until the job has ended,
// which another server sees to, and is free then.
func TestDeadHolderOfAKey_UNQ05(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	key := jobs.Unique("k", jobs.UntilFinished)
	first := enqueue(t, c, task{}, key)
	dead(t, db, "task")
	if again := enqueue(t, c, task{}, key); !again.Duplicate || again.ID != first.ID || again.State != store.Processing {
		t.Errorf("while the dead server holds it: %+v", again)
	}
	r := startOn(t, db, quickly(), on(nothing))
	defer r.stop()
	same(t, []string{"enqueued", "processing", "enqueued: Server dead lost", "processing", "succeeded"}, told(r.waitFor(first.ID, store.Succeeded)))
	if next := enqueue(t, r.Client, task{}, key); next.Duplicate {
		t.Errorf("after its end: %+v", next)
	}
	r.stop()
	check(t, db)
}

// RTY-13: the budget is the job's, not the process's: a restart after each failure
// gives no further retry.
func TestBudgetSurvivesRestarts_RTY13(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	const retries = 4
	handle := on(func(context.Context, *jobs.Job[task]) error { return errPaper },
		jobs.Retry(jobs.RetryPolicy{MaxRetries: retries, Delays: []time.Duration{time.Hour}}))
	id := enqueue(t, newClient(t, db, quickly()), task{}).ID
	for n := 1; n <= retries+1; n++ {
		r := startOn(t, db, quickly(), handle)
		eventually(t, "the attempt has failed", func() bool { d := r.detail(id); return d.Attempt == n && d.State != store.Processing })
		r.stop()
		d := r.detail(id)
		if want := min(n, retries); d.Retry != want || (d.State == store.Failed) != (n > retries) {
			t.Fatalf("after attempt %d: %v, %d retries used, want %d", n, d.State, d.Retry, want)
		}
		shift(t, db, `update tekrar.scheduled set run_at = clock_timestamp()`)
	}
	same(t, retries+1, ask[int](t, db, `select count(*) from tekrar.history where state = 5`))
	check(t, db)
}

// DBX-01: the LISTEN connection is cut and a job is enqueued at once, again and
// again: each starts within a poll, and a new listener comes.
func TestListenerCutAgainAndAgain_DBX01(t *testing.T) {
	storetest.NeedsListen(t)
	t.Parallel()
	cfg := quickly()
	cfg.Poll = 500 * time.Millisecond
	r := start(t, cfg, on(nothing))
	elsewhere := newClient(t, r.db, quickly()) // else the engine needs no notification
	const listeners = `pg_stat_activity where datname = current_database() and query ilike 'listen %'`
	for range 6 {
		eventually(t, "a listener is there", func() bool { return ask[int](t, r.db, `select count(*) from `+listeners) > 0 })
		ask[int](t, r.db, `select count(pg_terminate_backend(pid)) from `+listeners)
		began := time.Now()
		r.waitFor(enqueue(t, elsewhere, task{}).ID, store.Succeeded)
		if took := time.Since(began); took > cfg.Poll+5*time.Second { // 5 s for a busy machine
			t.Errorf("it took %v", took)
		}
	}
}
