package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

// combiner joins what callers ask for at the same time into one statement: while
// a flush waits for its commit, further callers gather for the next one. Each
// caller still waits for its own commit. No goroutine lives while nobody calls.
type combiner[T, R any] struct {
	flush   func(context.Context, []T) ([]R, error)
	leaders int // flushes at once
	batch   int

	mu      sync.Mutex
	waiting []*call[T, R]
	leading int
}

type call[T, R any] struct {
	item   T
	result R
	err    error
	done   chan struct{}
}

func newCombiner[T, R any](leaders, batch int, flush func(context.Context, []T) ([]R, error)) *combiner[T, R] {
	return &combiner[T, R]{flush: flush, leaders: leaders, batch: batch}
}

// flushTimeout bounds one statement: a flush serves many callers, so it does not
// end with the context of one.
const flushTimeout = 40 * time.Second

// do returns the item's result after its commit. If ctx ends first the item may
// still be written.
func (c *combiner[T, R]) do(ctx context.Context, item T) (R, error) {
	one := &call[T, R]{item: item, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return one.result, err
	}
	c.mu.Lock()
	c.waiting = append(c.waiting, one)
	lead := c.leading < c.leaders
	if lead {
		c.leading++
	}
	c.mu.Unlock()
	if lead {
		go c.lead()
	}
	select {
	case <-one.done:
		return one.result, one.err
	case <-ctx.Done():
		return one.result, context.Cause(ctx)
	}
}

func (c *combiner[T, R]) lead() {
	for {
		c.mu.Lock()
		n := min(len(c.waiting), c.batch)
		if n == 0 {
			c.leading--
			c.mu.Unlock()
			return
		}
		calls := c.waiting[:n:n]
		c.waiting = c.waiting[n:]
		c.mu.Unlock()
		c.serve(calls)
	}
}

// serve flushes the calls; when the server refuses one item's content, halves
// are tried, so that only the bad one fails.
func (c *combiner[T, R]) serve(calls []*call[T, R]) {
	items := make([]T, len(calls))
	for i, one := range calls {
		items[i] = one.item
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	results, err := c.flush(ctx, items)
	cancel()
	if err != nil && len(calls) > 1 && store.IsData(err) {
		c.serve(calls[:len(calls)/2])
		c.serve(calls[len(calls)/2:])
		return
	}
	for i, one := range calls {
		if err != nil {
			one.err = err
		} else {
			one.result = results[i]
		}
		close(one.done)
	}
}
