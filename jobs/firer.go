package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

// beatenWait is how long to leave alone what another server is firing just now;
// if that one dies, its rows are free again.
const beatenWait = 100 * time.Millisecond

// firer fires recurring jobs. Every server has one and they compete: whoever gets
// a due row's lock makes its jobs and moves it on in one transaction. It sleeps
// until the next fire that the database knows of, at most one recurringPoll.
type firer struct {
	e     *engine
	woken signal

	mu    sync.Mutex
	rules map[string]rule
}

func newFirer(e *engine) *firer { return &firer{e: e, woken: newSignal(), rules: map[string]rule{}} }

// wake makes it look now: a recurring job was edited.
func (f *firer) wake() {
	f.mu.Lock()
	clear(f.rules)
	f.mu.Unlock()
	f.woken.send()
}

func (f *firer) run(ctx context.Context) {
	trouble := &incident{log: f.e.log, what: "firing of recurring jobs"}
	for ctx.Err() == nil {
		wait, err := f.round(ctx)
		if err != nil {
			if ctx.Err() != nil || !sleep(ctx, trouble.failed(err), nil) {
				return
			}
			continue
		}
		trouble.ok()
		if !sleep(ctx, wait, f.woken) {
			return
		}
	}
}

// round fires what is due and says how long to wait for the next look. The local
// clock only sleeps: whether a fire is due is the database's word.
func (f *firer) round(ctx context.Context) (time.Duration, error) {
	in, err := f.e.db.NextDue(ctx)
	poll := jitter(recurringPoll)
	if err != nil || in < 0 {
		return poll, err
	}
	if in > 0 {
		return min(in, poll), nil
	}
	var failed []store.Firing
	fired, err := f.e.db.FireDue(ctx, func(now time.Time, due []store.Due) []store.Firing {
		firings := make([]store.Firing, len(due))
		failed = failed[:0]
		for i, d := range due {
			if firings[i] = fireOf(now, d); firings[i].Failures == 1 {
				failed = append(failed, firings[i])
			}
		}
		return firings
	})
	if err != nil {
		return 0, err
	}
	for _, one := range failed {
		f.e.log.Warn("recurring job cannot fire", "recurring", one.ID, "err", one.Error)
	}
	if len(fired.IDs) > 0 {
		f.e.c.changes.add(fired.IDs...)
		f.e.claimer.wake()
	}
	if fired.Rows == 0 {
		return jitter(beatenWait), nil
	}
	return 0, nil
}
