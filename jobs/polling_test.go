package jobs_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Without LISTEN everything works all the same, with jobs from another process.
func TestPollOnly(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.PollOnly = true
	r := start(t, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Attempt == 1 && j.Args.N > 0 {
			return errPaper
		}
		return nil
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{100 * time.Millisecond}})))
	elsewhere := newClient(t, r.db, cfg)
	for n, option := range []jobs.EnqueueOption{jobs.Priority(0), jobs.Priority(1), jobs.In(100 * time.Millisecond)} {
		placed, err := elsewhere.Enqueue(t.Context(), task{N: n}, option)
		if err != nil {
			t.Fatal(err)
		}
		r.waitFor(placed.ID, store.Succeeded)
	}
	same(t, 0, ask[int](t, r.db, `select count(*) from tekrar.servers where listening`))
	same(t, 0, ask[int](t, r.db, `select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen%'`))
}

// SCL-07: idle servers ask about once a poll. Transactions are counted: a claim and
// a promotion a poll, and the heartbeats and sweeps.
func TestSCL07IdleServersAreQuiet(t *testing.T) {
	storetest.NeedsListen(t) // each refused attempt to listen counts
	t.Parallel()
	// Connections of its own: one that is handed on runs transactions to be clean.
	db := storetest.Open(t, storetest.DSN(t), store.Options{Dial: new(net.Dialer).DialContext})
	cfg := quickly()
	cfg.Workers, cfg.Poll, cfg.Sweep, cfg.Lease, cfg.Heartbeat = 20, 500*time.Millisecond, time.Hour, time.Hour, time.Minute
	const servers = 4
	for range servers {
		r := startOn(t, db, cfg, on(nothing))
		defer r.stop()
		r.waitFor(r.put(task{}), store.Succeeded)
	}
	admin := storetest.Server(t)
	if admin == nil {
		t.Skip("needs the statistics of a server of its own")
	}
	watch := storetest.Open(t, admin.DSN(""), store.Options{}) // not counted: another database
	name := ask[string](t, db, `select current_database()`)
	type sample struct {
		At   time.Time
		Done float64
	}
	look := func() (s sample) {
		if err := watch.QueryRowContext(t.Context(), `select clock_timestamp(), xact_commit + xact_rollback from pg_stat_database where datname = $1`, name).
			Scan(&s.At, &s.Done); err != nil {
			t.Fatal(err)
		}
		return s
	}
	settle := look()
	// A backend that falls idle reports its last transactions ten seconds later (Postgres 15).
	eventually(t, "the work of the start is over, and reported", func() bool { return look().At.Sub(settle.At) > 11*time.Second })
	first := look()
	var last sample
	eventually(t, "three seconds have passed", func() bool { last = look(); return last.At.Sub(first.At) > 3*time.Second })
	polls := last.At.Sub(first.At).Seconds() / cfg.Poll.Seconds() * servers
	// Polls are jittered down to 75 %, so up to 2.7 statements each; backends
	// report at most once a second, so a window may hold a second of another.
	if got := last.Done - first.Done; got > 4*polls || got < polls/2 {
		t.Errorf("%v transactions in %v polls", got, polls)
	}
}
