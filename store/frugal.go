package store

import (
	"context"
	"sync"
	"time"
)

const (
	// What walks over dead rows rests for nineteen times its own duration, so that it
	// takes a twentieth of a connection however many pages are open.
	frugalShare = 19
	frugalRest  = 10 * time.Second
	// Older answers are not given away while a new one is on its way.
	frugalAge = frugalRest + 5*time.Second
	// Longest time for an answer: nobody waits for that, but pages without it would
	// never come when each gives up first.
	frugalPatience = 30 * time.Second
)

// frugal keeps the last answer to a question that is expensive while there are many
// dead rows. One look at a time goes to the database, behind the scenes; meanwhile
// those who ask get the last answer.
type frugal[T any] struct {
	least time.Duration // shortest rest: tests want to know what is remembered

	mu    sync.Mutex
	last  T
	at    time.Time   // when last came; zero: never
	until time.Time   // until then nobody asks again
	busy  *renewal[T] // the look on its way; nil: none
}

// renewal is one look. Its answer is written before done is closed.
type renewal[T any] struct {
	done chan struct{}
	v    T
	err  error
}

// get answers with what look returned last, unless that is too old. life ends looks that
// nobody will wait for any more.
func (f *frugal[T]) get(ctx, life context.Context, look func(context.Context) (T, error)) (T, error) {
	last, good, on := f.current(life, look)
	if good {
		return last, nil
	}
	select {
	case <-on.done:
		return on.v, on.err
	case <-ctx.Done():
		return last, ctx.Err()
	}
}

// current is the last answer, whether it may be given away, and the look on its way.
func (f *frugal[T]) current(life context.Context, look func(context.Context) (T, error)) (last T, good bool, on *renewal[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !now.Before(f.until) && f.busy == nil {
		f.busy = &renewal[T]{done: make(chan struct{})}
		go f.renew(f.busy, life, look)
	}
	return f.last, !f.at.IsZero() && now.Sub(f.at) < frugalAge, f.busy
}

func (f *frugal[T]) renew(on *renewal[T], life context.Context, look func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(life, frugalPatience)
	defer cancel()
	began := time.Now()
	on.v, on.err = look(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy = nil; on.err == nil {
		f.last, f.at = on.v, time.Now()
		f.until = f.at.Add(max(f.least, min(frugalShare*f.at.Sub(began), frugalRest)))
	}
	close(on.done)
}

// remembered is the last answer, however old.
func (f *frugal[T]) remembered() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}
