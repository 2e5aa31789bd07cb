package bench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// drain: jobs a second from the start of the engine until the last of the
// enqueued jobs is settled, for many workers and for 100, and the processor time of
// each.
func (b *bench) drain(ctx context.Context, db *store.DB) error {
	for _, workers := range []int{b.Workers, 100} {
		rate, used, err := b.drained(ctx, db, workers)
		if err != nil {
			return err
		}
		b.print(Figure{Bench: "drain", Figure: fmt.Sprintf("rate_%d_workers", workers), Value: rate, Unit: "jobs/s"})
		b.processor(Figure{Bench: "drain", Figure: fmt.Sprintf("cpu_%d_workers", workers)}, used, b.Jobs)
	}
	return nil
}

func (b *bench) drainOnce(ctx context.Context, db *store.DB, workers int) (float64, error) {
	rate, _, err := b.drained(ctx, db, workers)
	return rate, err
}

func (b *bench) drained(ctx context.Context, db *store.DB, workers int) (rate float64, used spent, err error) {
	c, err := b.client(db, workers)
	if err != nil {
		return 0, used, err
	}
	if err := b.fill(ctx, c, b.Jobs); err != nil {
		return 0, used, err
	}
	ran, done, all := counted(b.Jobs)
	jobs.Handle(c, func(context.Context, *jobs.Job[noop]) error { ran(); return nil })
	defer b.Working.on(fmt.Sprintf("running jobs, %d workers", workers), int64(b.Jobs), done)()
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	before, began := b.spent(), time.Now()
	go func() { ended <- c.Run(run) }()
	select {
	case <-all:
	case <-ctx.Done():
		return 0, used, ctx.Err()
	}
	if err := settledAll(ctx, db); err != nil {
		return 0, used, err
	}
	rate, used = float64(b.Jobs)/time.Since(began).Seconds(), b.spent().since(before)
	stop()
	return rate, used, <-ended
}

// counted returns what counts a run, and what is closed at the n-th: the database is
// asked whether all is settled only after that, since each question costs it as much
// as a batch of jobs.
func counted(n int) (ran func(), soFar func() int64, all <-chan struct{}) {
	var runs atomic.Int64
	done := make(chan struct{})
	return func() {
		if runs.Add(1) == int64(n) {
			close(done)
		}
	}, runs.Load, done
}

// settledAll waits until no job is ready or running.
func settledAll(ctx context.Context, db *store.DB) error {
	for ctx.Err() == nil {
		busy, err := db.Busy(ctx)
		if err != nil || !busy {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ctx.Err()
}

// latency: from the call of Enqueue to the start of the handler on an idle
// queue, 100 jobs a second, enqueued by a client other than the one that runs. The
// first jobs are not counted: both clients open their connections with them.
func (b *bench) latency(ctx context.Context, db *store.DB) error {
	const n, first = 1000, 100
	worker, err := b.client(db, 10)
	if err != nil {
		return err
	}
	far, err := store.Open(b.dsnOf(db), store.Options{Schema: db.Schema()})
	if err != nil {
		return err
	}
	defer far.Close()
	caller, err := b.client(far, 1)
	if err != nil {
		return err
	}
	started := make(chan int, first+n)
	times := make([]time.Time, first+n)
	jobs.Handle(worker, func(_ context.Context, j *jobs.Job[noop]) error {
		times[j.Args.N] = time.Now()
		started <- j.Args.N
		return nil
	})
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(run) }()
	called := make([]time.Time, first+n)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var enqueued atomic.Int64
	defer b.Working.on("measuring the latency of jobs", first+n, enqueued.Load)()
	for i := range first + n {
		<-tick.C
		enqueued.Store(int64(i))
		called[i] = time.Now()
		if _, err := caller.Enqueue(ctx, b.args(i)); err != nil {
			return err
		}
	}
	var waits []time.Duration
	for range first + n {
		select {
		case i := <-started:
			if i >= first {
				waits = append(waits, times[i].Sub(called[i]))
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	stop()
	slices.Sort(waits)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", .50}, {"p95", .95}, {"p99", .99}} {
		wait := waits[int(q.at*float64(n-1))]
		b.print(Figure{Bench: "latency", Figure: "enqueue_to_start_" + q.name, Value: float64(wait.Microseconds()) / 1000, Unit: "ms"})
	}
	return <-ended
}

func (b *bench) dsnOf(db *store.DB) string { return db.DSN() }
