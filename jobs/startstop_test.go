package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// LIF-01: one Run at a time; the others are told so, and a context that has
// ended starts nothing.
func TestLIF01RunTwiceAndBeforeStart(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Run(ended); err != nil {
		t.Errorf("Run with an ended context: %v", err)
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers`))
	for round := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		const callers = 4
		results := make(chan error, callers)
		var running sync.WaitGroup
		for range callers {
			running.Go(func() { results <- c.Run(ctx) })
		}
		for range callers - 1 {
			if err := <-results; !errors.Is(err, jobs.ErrRunning) {
				t.Fatalf("round %d: a second Run returned %v", round, err)
			}
		}
		if round%2 == 0 { // else it is stopped while it starts
			eventually(t, "the server is live", func() bool { return live(t, db) > 0 })
		}
		cancel()
		running.Wait()
		if err := <-results; err != nil {
			t.Fatalf("round %d: Run returned %v", round, err)
		}
	}
	same(t, 0, live(t, db))
	check(t, db)
}

// What is wrong with a registration is reported by Run, which starts nothing.
func TestRegistrationErrorsAreReportedByRun(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	fn := func(context.Context, *jobs.Job[task]) error { return nil }
	jobs.Handle(c, fn)
	jobs.Handle(c, fn)
	jobs.Handle[greet](c, nil)
	jobs.Handle(c, func(context.Context, *jobs.Job[never]) error { return nil }, jobs.Retry(jobs.RetryPolicy{MaxRetries: -1}))
	err := c.Run(t.Context())
	if err == nil {
		t.Fatal("Run started")
	}
	for _, part := range []string{`"task"`, "two handlers", `"greet"`, "nil", `"never"`, "MaxRetries"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %s: %v", part, err)
		}
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers`))
}

type never struct{}

func (never) Kind() string { return "never" }

// Run can be called again after a start that failed.
func TestStartAfterFailedStart(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{})
	c := newClient(t, db, quickly())
	done := make(chan int, 1)
	jobs.Handle(c, func(_ context.Context, j *jobs.Job[task]) error { done <- j.Attempt; return nil })
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "migrate") {
		t.Fatalf("Run without a schema: %v", err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }()
	if _, err := c.Enqueue(t.Context(), task{}); err != nil {
		t.Fatal(err)
	}
	same(t, 1, <-done)
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	check(t, db)
}

// LIF-09: starting and stopping leaves neither goroutines nor connections behind.
// It is not parallel: goroutines of other tests would count.
func TestLIF09NoLeakPerStartAndStop(t *testing.T) {
	db := storetest.New(t)
	before := goleak.IgnoreCurrent()
	name := ask[string](t, db, `select current_database()`)
	for cycle := range 100 {
		r := startOn(t, db, quickly(), on(func(context.Context, *jobs.Job[task]) error { return nil }))
		ctx, cancel := context.WithCancel(t.Context())
		changes := r.Watch(ctx)
		r.waitFor(r.put(task{N: cycle}), store.Succeeded)
		r.stop()
		cancel()
		for range changes { // until it is closed
		}
	}
	check(t, db)
	// Of the pools: 8 general, 2 enqueue, 2 claim, 1 settle, 1 heartbeat.
	eventually(t, "no connection beyond the pools", func() bool { return storetest.Connections(t, name) <= 14 })
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "no connection after Close", func() bool { return storetest.Connections(t, name) == 0 })
	goleak.VerifyNone(t, before)
}
