package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// LIF-04: a handler that stops because the server stops has not failed: its job
// is enqueued again, and no retry is used.
func TestLIF04ShutdownIsNoFailure(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.DrainTimeout = -1
	cause := make(chan error, 1)
	began := make(chan struct{})
	r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
		close(began)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return fmt.Errorf("query: %w", ctx.Err())
	}, jobs.Retry(jobs.NoRetry())))
	id := r.put(task{})
	<-began
	r.stop()
	same(t, jobs.ErrShutdown.Error(), (<-cause).Error())
	d := r.detail(id)
	same(t, []string{"enqueued", "processing", "enqueued: Interrupted by shutdown"}, told(d))
	same(t, []int{0, 0, 1}, []int{d.Retry, d.Losses, d.Attempt})
	same(t, 0, live(t, db))
	check(t, db)
}

// An error that the policy knows as hopeless is one, also at shutdown.
func TestPermanentErrorAtShutdownFails(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.DrainTimeout = -1
	began := make(chan struct{})
	r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
		close(began)
		<-ctx.Done()
		return jobs.Permanent(errors.New("the period is closed"))
	}))
	id := r.put(task{})
	<-began
	r.stop()
	same(t, store.Failed, r.detail(id).State)
	check(t, db)
}

// LIF-03: many jobs run when Run's context ends; all of them are settled.
func TestLIF03StopWithManyRunning(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.Workers, cfg.DrainTimeout = 50, -1
	for range 10 {
		began := make(chan struct{}, 100)
		r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}))
		if _, err := r.EnqueueMany(t.Context(), tasks(50)); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			<-began
		}
		r.stop()
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.running`))
	same(t, 500, ask[int](t, db, `select count(*) from tekrar.ready`))
	check(t, db)
}

// A running job may finish within the drain timeout, and Run waits for it.
func TestDrainWaitsForRunningJobs(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	began, finish := make(chan struct{}), make(chan struct{})
	cfg := quickly()
	cfg.DrainTimeout = time.Minute
	r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
		close(began)
		<-finish
		return ctx.Err() // nil: its context lives on during the drain
	}))
	id := r.put(task{})
	<-began
	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	eventually(t, "the server says that it drains", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.servers where draining_at is not null`) == 1
	})
	waiting := r.put(task{})
	close(finish)
	<-stopped
	same(t, store.Succeeded, r.detail(id).State)
	same(t, []string{"enqueued"}, told(r.detail(waiting)))
	check(t, db)
}

// EXE-08: a handler that ignores its context does not hold Run up for longer than
// drain timeout and grace; the job stays with the lease and is run elsewhere later.
func TestEXE08StopIsBoundedByDrainAndGrace(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	began, never := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(never) })
	cfg := quickly()
	cfg.Name, cfg.DrainTimeout, cfg.StopGrace = "stuck", 200*time.Millisecond, 200*time.Millisecond
	r := startOn(t, db, cfg, on(func(context.Context, *jobs.Job[task]) error {
		close(began)
		<-never
		return nil
	}, jobs.Timeout(50*time.Millisecond)))
	id := r.put(task{})
	<-began
	asked := time.Now()
	r.stop()
	if took := time.Since(asked); took > 5*time.Second {
		t.Errorf("Run returned %v after its context's end", took)
	}
	same(t, store.Processing, r.detail(id).State)
	next := startOn(t, db, quickly(), on(func(context.Context, *jobs.Job[task]) error { return nil }))
	d := next.waitFor(id, store.Succeeded)
	same(t, []string{"enqueued", "processing", "enqueued: Server stuck lost", "processing", "succeeded"}, told(d))
	next.stop()
	check(t, db)
}

// A stop under load leaves nothing in processing: buffered jobs, and those of a
// claim that the stop cut off, are enqueued again without a loss.
func TestStopUnderLoadGivesEverythingBack(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	for range 8 {
		r := startOn(t, db, quickly(), on(func(context.Context, *jobs.Job[task]) error { return nil }))
		before := ask[int](t, db, `select count(*) from tekrar.ready`)
		if _, err := r.EnqueueMany(t.Context(), tasks(400)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is busy", func() bool { return ask[int](t, db, `select count(*) from tekrar.ready`) < before+400-20 })
		r.stop()
		if n := ask[int](t, db, `select count(*) from tekrar.running`); n > 0 {
			t.Fatalf("%d jobs are left in processing by a server that stopped", n)
		}
	}
	r := startOn(t, db, quickly(), on(func(context.Context, *jobs.Job[task]) error { return nil }))
	eventually(t, "all have run", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.ready`)+ask[int](t, db, `select count(*) from tekrar.running`) == 0
	})
	r.stop()
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.history where reason like '%lost%'`))
	check(t, db)
}

func tasks(n int) []jobs.Item {
	items := make([]jobs.Item, n)
	for i := range items {
		items[i].Args = task{N: i}
	}
	return items
}
