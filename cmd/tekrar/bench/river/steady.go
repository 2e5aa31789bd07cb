package main

import (
	"context"
	"log"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// steady enqueues at a fixed rate. Nobody looks at a dashboard here: River gets
// the easier run.
func (b *bench) steady(ctx context.Context) error { return b.steadily(ctx, "steady") }

// steadyAged does so with many old jobs in the table and a snapshot held open.
func (b *bench) steadyAged(ctx context.Context) error {
	if err := b.age(ctx); err != nil {
		return err
	}
	release, err := b.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	return b.steadily(ctx, "steady-aged")
}

func (b *bench) steadily(ctx context.Context, name string) error {
	total := b.rate * b.seconds
	called := make([]atomic.Int64, total+1)
	var mu sync.Mutex
	var waits []time.Duration
	c, err := b.client(b.workers, func(i int) {
		wait := time.Duration(time.Now().UnixNano() - called[i].Load())
		mu.Lock()
		waits = append(waits, wait)
		mu.Unlock()
	})
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	used(name, "cpu")
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range 32 {
		all.Go(func() {
			for i := int(next.Add(1)); i <= total; i = int(next.Add(1)) {
				time.Sleep(time.Until(began.Add(time.Duration(float64(i) / float64(b.rate) * float64(time.Second)))))
				called[i].Store(time.Now().UnixNano())
				if _, err := c.Insert(ctx, b.args(i), nil); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	all.Wait()
	used(name, "cpu")
	mu.Lock()
	started := slices.Clone(waits)
	mu.Unlock()
	figure(name, "waiting_at_the_end", "jobs", float64(total-len(started)))
	quantiles(name, started)
	return c.Stop(ctx)
}
