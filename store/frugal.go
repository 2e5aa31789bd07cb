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
	// Longest time for an answer: nobody waits for it, but some pages give up first.
	frugalPatience = 30 * time.Second
	// Pause after a failure: those who asked go on without.
	frugalRetry = time.Second
)

// frugal keeps the last answer to a question that is expensive while there are many
// dead rows. One look at a time goes to the database, behind the scenes; meanwhile
// those who ask get the last answer, or do without.
type frugal[T any] struct {
	least time.Duration // shortest rest: tests want to know what is remembered

	mu    sync.Mutex
	last  T
	at    time.Time // when last came; zero: never
	until time.Time // until then nobody asks again
	busy  bool      // a look is on its way
}

// get answers with what look returned last; ok is false when that is too old. life ends
// looks.
func (f *frugal[T]) get(life context.Context, look func(context.Context) (T, error)) (last T, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !now.Before(f.until) && !f.busy {
		f.busy = true
		go f.renew(life, look)
	}
	return f.last, !f.at.IsZero() && now.Sub(f.at) < frugalAge
}

func (f *frugal[T]) renew(life context.Context, look func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(life, frugalPatience)
	defer cancel()
	began := time.Now()
	v, err := look(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.busy, f.until = false, now.Add(frugalRetry)
	if err == nil {
		f.last, f.at = v, now
		f.until = now.Add(max(f.least, min(frugalShare*now.Sub(began), frugalRest)))
	}
}

// remembered is the last answer, however old.
func (f *frugal[T]) remembered() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}
