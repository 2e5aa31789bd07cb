package bench

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// steady: jobs arrive at a fixed rate while a dashboard is looked at: pages are
// asked for and sockets are open. Printed are the time from the call of Enqueue to
// the start of the handler, what waited at the end, what a page took, and how much
// the tables whose rows come and go grew from a third of the time to its end.
func (b *bench) steady(ctx context.Context, db *store.DB) error { return b.steadily(ctx, db, "steady") }

// steady-aged: the same with many old jobs in the tables and a transaction that holds
// its snapshot open all the time.
func (b *bench) steadyAged(ctx context.Context, db *store.DB) error {
	if err := b.age(ctx, db); err != nil {
		return err
	}
	release, err := db.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	return b.steadily(ctx, db, "steady-aged")
}

func (b *bench) steadily(ctx context.Context, db *store.DB, name string) error {
	worker, err := b.client(db, b.Workers)
	if err != nil {
		return err
	}
	started := &starts{called: make([]atomic.Int64, b.Rate*b.Seconds+1), waits: make([]time.Duration, 0, b.Rate*b.Seconds)}
	jobs.Handle(worker, func(_ context.Context, j *jobs.Job[noop]) error { started.add(j.Args.N); return nil })
	run, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(run) }()
	look, err := b.lookOn(run, worker)
	if err != nil {
		return err
	}
	early := make(chan int64, 1)
	third := time.AfterFunc(time.Duration(b.Seconds)*time.Second/3, func() {
		size, _ := db.HotSize(ctx)
		early <- size
	})
	defer third.Stop()
	still := b.Working.during("steady load", time.Duration(b.Seconds)*time.Second)
	before := b.spent()
	err = b.arrive(ctx, worker, started)
	used := b.spent().since(before)
	still()
	if err != nil {
		return err
	}
	b.processor(Figure{Bench: name, Figure: "cpu"}, used, b.Rate*b.Seconds)
	size, err := db.HotSize(ctx)
	if err != nil {
		return err
	}
	if was := <-early; was > 0 {
		b.print(Figure{Bench: name, Figure: "hot_tables_growth", Value: float64(size) / float64(was), Unit: "ratio"})
	}
	waits := started.all()
	b.print(Figure{Bench: name, Figure: "waiting_at_the_end", Value: float64(b.Rate*b.Seconds - len(waits)), Unit: "jobs"})
	b.print(Figure{Bench: name, Figure: "enqueue_to_start_p50", Value: quantile(waits, .50), Unit: "ms"})
	b.print(Figure{Bench: name, Figure: "enqueue_to_start_p95", Value: quantile(waits, .95), Unit: "ms"})
	b.print(Figure{Bench: name, Figure: "enqueue_to_start_p99", Value: quantile(waits, .99), Unit: "ms"})
	pages, frames, err := look.end()
	if err != nil {
		return err
	}
	b.print(Figure{Bench: name, Figure: "page_p50", Value: quantile(pages, .50), Unit: "ms"})
	b.print(Figure{Bench: name, Figure: "page_p95", Value: quantile(pages, .95), Unit: "ms"})
	b.print(Figure{Bench: name, Figure: "frames", Value: float64(frames) / float64(b.Seconds), Unit: "frames/s"})
	stop()
	return <-ended
}

// arrive enqueues at the rate from 32 callers; one that is late catches up.
func (b *bench) arrive(ctx context.Context, c *jobs.Client, s *starts) error {
	began := time.Now()
	_, err := together(ctx, 32, b.Rate*b.Seconds, func(ctx context.Context, i int) error {
		due := began.Add(time.Duration(float64(i) / float64(b.Rate) * float64(time.Second)))
		time.Sleep(time.Until(due))
		s.called[i].Store(time.Now().UnixNano())
		_, err := c.Enqueue(ctx, b.args(i))
		return err
	})
	return err
}

// starts collects when jobs were enqueued and started.
type starts struct {
	called []atomic.Int64
	mu     sync.Mutex
	waits  []time.Duration
}

func (s *starts) add(n int) {
	wait := time.Duration(time.Now().UnixNano() - s.called[n].Load())
	s.mu.Lock()
	s.waits = append(s.waits, wait)
	s.mu.Unlock()
}

func (s *starts) all() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.waits)
}

// quantile in ms; 0 when there is none.
func quantile(of []time.Duration, q float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return float64(sorted[int(q*float64(len(sorted)-1))].Microseconds()) / 1000
}
