package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// maxEnded bounds the ended jobs that wait to be looked at; of more, the sweep
	// finds the continuations.
	maxEnded = 10_000
	// sweepShare keeps a sweep of many awaiting jobs to a tenth of the time.
	sweepShare = 10
)

// continuer starts continuations. What this process ended, or hears of, it looks
// at once; a sweep over all awaiting jobs, a poll after the last one, finds what
// anybody missed. While nobody awaits anything, a settle costs it one look at a flag.
type continuer struct {
	e     *engine
	woken signal
	known atomic.Bool // awaiting jobs exist, as far as known

	mu    sync.Mutex
	ended []int64
	whole bool // a sweep is asked for
	heard int  // hints, so that an older sweep does not overrule them
}

func newContinuer(e *engine) *continuer {
	c := &continuer{e: e, woken: newSignal()}
	c.known.Store(true)
	return c
}

// after notes jobs that ended here.
func (c *continuer) after(ids ...int64) {
	if len(ids) > 0 && c.known.Load() {
		c.note(ids)
	}
}

// look notes that continuations of these parents were enqueued; of none: of many.
func (c *continuer) look(parents ...int64) {
	c.known.Store(true)
	c.note(parents)
}

func (c *continuer) note(ids []int64) {
	c.mu.Lock()
	c.heard++
	c.whole = c.whole || len(ids) == 0
	if len(c.ended)+len(ids) <= maxEnded {
		c.ended = append(c.ended, ids...)
	}
	c.mu.Unlock()
	c.woken.send()
}

func (c *continuer) take() (ids []int64, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids, whole = c.ended, c.whole
	c.ended, c.whole = nil, false
	return ids, whole
}

func (c *continuer) run(ctx context.Context) {
	trouble := &incident{log: c.e.log, what: "start of continuations"}
	s := &awaitingSweep{}
	for ctx.Err() == nil {
		err := c.round(ctx, s)
		if err != nil {
			s.at = time.Time{} // what it had taken is left to the sweep
			if ctx.Err() != nil || !sleep(ctx, trouble.failed(err), nil) {
				return
			}
			continue
		}
		trouble.ok()
		if !sleep(ctx, time.Until(s.at), c.woken) {
			return
		}
	}
}

// awaitingSweep is where the sweep stands and when its next step is due.
type awaitingSweep struct {
	at          time.Time
	place       store.AwaitingPlace
	seen, heard int // since the sweep began
}

func (c *continuer) round(ctx context.Context, s *awaitingSweep) error {
	ids, whole := c.take()
	if whole {
		s.at, s.place = time.Time{}, store.AwaitingPlace{}
	}
	if len(ids) > 0 {
		all, err := c.e.db.Continue(ctx, ids)
		if err != nil {
			return err
		}
		c.started(all)
	}
	began := time.Now()
	if began.Before(s.at) {
		return nil
	}
	if s.place == (store.AwaitingPlace{}) {
		c.mu.Lock()
		s.seen, s.heard = 0, c.heard
		c.mu.Unlock()
	}
	all, seen, next, err := c.e.db.SweepAwaiting(ctx, s.place)
	if err != nil {
		return err
	}
	c.started(all)
	wait := sweepShare * time.Since(began)
	if s.seen, s.place = s.seen+seen, next; next == (store.AwaitingPlace{}) {
		c.mu.Lock()
		c.known.Store(s.seen > 0 || c.heard != s.heard)
		c.mu.Unlock()
		wait = max(wait, c.poll())
	}
	s.at = time.Now().Add(wait)
	return nil
}

// poll is rare while nobody awaits anything and whoever begins to tells so.
func (c *continuer) poll() time.Duration {
	if !c.known.Load() && c.e.listening.Load() {
		return jitter(max(c.e.cfg.Sweep, c.e.cfg.Poll))
	}
	return c.e.poll()
}

func (c *continuer) started(all []store.Continued) {
	if len(all) == 0 {
		return
	}
	ids := make([]int64, len(all))
	for i, one := range all {
		ids[i] = one.ID
	}
	c.e.c.changes.add(ids...)
	c.e.claimer.wake()
}
