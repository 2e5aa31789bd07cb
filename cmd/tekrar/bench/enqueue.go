package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

const bulk = 1000

// enqueueBulk: jobs a second in calls of 1,000, one caller.
func (b *bench) enqueueBulk(ctx context.Context, db *store.DB) error {
	c, err := b.client(db, 1)
	if err != nil {
		return err
	}
	if err := b.fill(ctx, c, bulk); err != nil { // statements prepared, files grown
		return err
	}
	began := time.Now()
	if err := b.fill(ctx, c, b.Jobs); err != nil {
		return err
	}
	b.print(Figure{Bench: "enqueue-bulk", Figure: "rate", Value: float64(b.Jobs) / time.Since(began).Seconds(), Unit: "jobs/s"})
	return nil
}

// fill enqueues n jobs in calls of 1,000.
func (b *bench) fill(ctx context.Context, c *jobs.Client, n int) error {
	var filled atomic.Int64
	defer b.Working.on("enqueueing jobs in bulk", int64(n), filled.Load)()
	for done := 0; done < n; {
		items := make([]jobs.Item, min(bulk, n-done))
		for i := range items {
			items[i] = jobs.Item{Args: b.args(done + i)}
		}
		if _, err := c.EnqueueMany(ctx, items); err != nil {
			return err
		}
		done += len(items)
		filled.Store(int64(done))
	}
	return nil
}

// enqueueSingle: jobs a second, one a call, each caller waiting for its commit.
func (b *bench) enqueueSingle(ctx context.Context, db *store.DB) error {
	c, err := b.client(db, 1)
	if err != nil {
		return err
	}
	for _, callers := range []int{8, 64} {
		n := b.Jobs / 5
		var enqueued atomic.Int64
		stop := b.Working.on(fmt.Sprintf("enqueueing jobs one by one, %d callers", callers), int64(n), enqueued.Load)
		rate, err := together(ctx, callers, n, func(ctx context.Context, i int) error {
			_, err := c.Enqueue(ctx, b.args(i))
			enqueued.Add(1)
			return err
		})
		stop()
		if err != nil {
			return err
		}
		b.print(Figure{Bench: "enqueue-single", Figure: named("rate", callers), Value: rate, Unit: "jobs/s"})
	}
	return nil
}

func named(figure string, callers int) string {
	if callers == 8 {
		return figure + "_8_callers"
	}
	return figure + "_64_callers"
}

// together makes n calls from several goroutines and returns calls a second.
func together(ctx context.Context, callers, n int, call func(context.Context, int) error) (float64, error) {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for {
				i := int(next.Add(1))
				if i > n || failed.Load() != nil {
					return
				}
				if err := call(ctx, i); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
