package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

// scheduler moves due jobs to their queues. It sleeps until the next due time
// that it knows of, at most one poll: another process may have scheduled a job
// without telling.
type scheduler struct {
	e     *engine
	woken signal

	mu   sync.Mutex
	next time.Time // local clock; zero: none known
}

func newScheduler(e *engine) *scheduler { return &scheduler{e: e, woken: newSignal()} }

// due notes a job that this process scheduled.
func (s *scheduler) due(j store.NewJob) {
	d := j.In
	if !j.At.IsZero() {
		d = time.Until(j.At)
	}
	s.in(d)
}

// in notes that something is due in d. The local clock only sleeps: whether it
// is due is the database's word.
func (s *scheduler) in(d time.Duration) {
	at := time.Now().Add(d)
	s.mu.Lock()
	sooner := s.next.IsZero() || at.Before(s.next)
	if sooner {
		s.next = at
	}
	s.mu.Unlock()
	if sooner {
		s.woken.send()
	}
}

func (s *scheduler) run(ctx context.Context) {
	trouble := &incident{log: s.e.log, what: "promotion of due jobs"}
	for s.sleep(ctx) {
		p, err := s.e.db.Promote(ctx)
		if err != nil {
			if ctx.Err() != nil || !sleep(ctx, trouble.failed(err), nil) {
				return
			}
			continue
		}
		trouble.ok()
		if p.NextIn >= 0 {
			s.in(p.NextIn)
		}
		if len(p.IDs) > 0 {
			s.e.c.changes.add(p.IDs...)
			s.e.claimer.wake()
			s.e.c.waking.now(p.Queues...)
		}
	}
}

// sleep waits for the next due time, at most one poll, and forgets it.
func (s *scheduler) sleep(ctx context.Context) bool {
	latest := time.Now().Add(s.e.poll())
	for {
		s.mu.Lock()
		at := latest
		if !s.next.IsZero() && s.next.Before(at) {
			at = s.next
		}
		wait := time.Until(at)
		if wait <= 0 {
			s.next = time.Time{}
		}
		s.mu.Unlock()
		if wait <= 0 {
			return ctx.Err() == nil
		}
		if !sleep(ctx, wait, s.woken) {
			return false
		}
	}
}
