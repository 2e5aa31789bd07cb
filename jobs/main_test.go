package jobs_test

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(workerDSN); dsn != "" { // this is a worker that a test started: see spawn
		os.Exit(workerProcess(dsn))
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("6") // most tests here wait for leases and polls, not for a core
	}
	os.Exit(storetest.Run(m))
}

// running is a client whose engine runs until the test ends. Then the checker
// looks at the database: every job in at most one hot table, histories unbroken,
// statistics equal to history.
type running struct {
	*jobs.Client
	t    testing.TB
	db   *store.DB
	stop func()
}

// quickly is a configuration for tests: short lease and polls, a quiet log.
func quickly() jobs.Config {
	return jobs.Config{
		Workers: 4, Lease: 2 * time.Second, Heartbeat: 500 * time.Millisecond, Sweep: 200 * time.Millisecond,
		DrainTimeout: 5 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}
}

func newClient(t testing.TB, db *store.DB, cfg jobs.Config) *jobs.Client {
	t.Helper()
	c, err := jobs.New(db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// start runs an engine on a database of its own.
func start(t testing.TB, cfg jobs.Config, register func(*jobs.Client)) *running {
	t.Helper()
	db := storetest.New(t)
	r := startOn(t, db, cfg, register)
	t.Cleanup(func() {
		r.stop()
		check(t, db)
	})
	return r
}

func check(t testing.TB, db *store.DB) {
	t.Helper()
	if err := db.Check(context.Background()); err != nil {
		t.Errorf("the checker found: %v", err)
	}
}

// startOn runs an engine on a shared database; the caller stops and checks.
func startOn(t testing.TB, db *store.DB, cfg jobs.Config, register func(*jobs.Client)) *running {
	t.Helper()
	c := newClient(t, db, cfg)
	if register != nil {
		register(c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stopped := false
	r := &running{Client: c, t: t, db: db, stop: func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(60 * time.Second):
			t.Error("Run did not return within 60 s of its context's end")
		}
	}}
	return r
}

// eventually polls until ok holds; the condition, not the clock, decides.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	// Most conditions cost a query: those that take long are looked at less often.
	for pause := 5 * time.Millisecond; !ok(); pause = min(pause*3/2, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
		time.Sleep(pause)
	}
}

func (r *running) detail(id int64) store.JobDetail {
	r.t.Helper()
	d, err := r.db.Job(context.Background(), id, 1000, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// listens returns once notifications wake the engine.
func (r *running) listens() {
	r.t.Helper()
	storetest.NeedsListen(r.t)
	eventually(r.t, "the engine listens", func() bool {
		return ask[bool](r.t, r.db, `select coalesce(bool_or(listening), false) from tekrar.servers`)
	})
}

// waitFor returns the job once it is in the state.
func (r *running) waitFor(id int64, s store.State) store.JobDetail {
	r.t.Helper()
	var d store.JobDetail
	eventually(r.t, "job is "+s.String(), func() bool {
		if stateOf(r.t, r.db, id) != s {
			return false
		}
		d = r.detail(id)
		return d.State == s
	})
	return d
}

// stateOf is what waiting tests ask again and again: a detail costs the database as
// much as ten runs of a job.
func stateOf(t testing.TB, db *store.DB, id int64) store.State {
	t.Helper()
	return ask[store.State](t, db, `select state from tekrar.history where job_id = $1 and state <= 6 order by id desc limit 1`, id)
}

// told lists a job's history, oldest first, as "state: reason".
func told(d store.JobDetail) []string {
	var list []string
	for i := len(d.History) - 1; i >= 0; i-- {
		h := d.History[i]
		list = append(list, strings.TrimSuffix(h.State.String()+": "+h.Reason, ": "))
	}
	return list
}

// put enqueues one job and returns its id.
func (r *running) put(args jobs.Args, opts ...jobs.EnqueueOption) int64 {
	r.t.Helper()
	placed, err := r.Enqueue(context.Background(), args, opts...)
	if err != nil {
		r.t.Fatal(err)
	}
	return placed.ID
}

// on registers one handler.
func on[T jobs.Args](fn func(context.Context, *jobs.Job[T]) error, opts ...jobs.HandleOption) func(*jobs.Client) {
	return func(c *jobs.Client) { jobs.Handle(c, fn, opts...) }
}

// task is the job of most engine tests.
type task struct {
	N int `json:"n"`
}

func (task) Kind() string { return "task" }

// ask reads one value from the database.
func ask[T any](t testing.TB, db *store.DB, query string, args ...any) T {
	t.Helper()
	var v T
	if err := db.GetContext(context.Background(), &v, query, args...); err != nil {
		t.Fatal(err)
	}
	return v
}

// live is the number of servers that hold a lease.
func live(t testing.TB, db *store.DB) int {
	t.Helper()
	return ask[int](t, db, `select count(*) from tekrar.servers where lost_at is null and stopped_at is null and lease_until > now()`)
}

// same fails the test unless got is want.
func same(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// nothing is a handler that succeeds.
func nothing(context.Context, *jobs.Job[task]) error { return nil }
