package web

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/store"
)

// scene is what a page shows and how to look at it again.
type scene struct {
	key  string // equal for pages that look alike: path, query, what the person may do, their language and zone
	job  int64  // only this job concerns it; 0: any
	look look
}

// concerns says whether a change of these jobs may show here.
func (s scene) concerns(ids []int64) bool {
	for _, id := range ids {
		if s.job == 0 || s.job == id {
			return true
		}
	}
	return false
}

// picture is the live parts of a page at one moment.
type picture struct {
	pieces []piece
	news   int
	now    time.Time
}

// piece is one part, drawn on demand.
type piece struct {
	id   string
	v    int64 // version of its data; 0: it has none, the time of drawing counts
	draw func(now time.Time, v int64) (string, error)
}

const (
	tickEvery = 2 * time.Second        // looks without a hint
	tickGap   = 500 * time.Millisecond // shortest time between two looks
	tickMost  = 5 * time.Second        // longest time between two looks, however slow they are
	quietFor  = 7 * time.Second        // an empty frame after that, so that "as of" stays true
	firstSeq  = 1 << 10                // leaves room below for a late joiner's frames
	drawWait  = 2 * time.Second
)

// view is a scene with sockets on it and its own goroutine.
type view struct {
	hub   *hub
	scene scene
	wake  chan struct{}
	empty chan struct{} // closed when the last socket left
	born  time.Time

	mu   sync.Mutex
	tabs map[*tab]struct{}

	// Only the view's goroutine uses these.
	seq   int64
	news  int
	drawn map[string]uint64 // what each part looked like
	sent  time.Time
	seed  maphash.Seed
}

func newView(h *hub, s scene) *view {
	return &view{
		hub: h, scene: s, wake: make(chan struct{}, 1), empty: make(chan struct{}), born: time.Now(),
		tabs: map[*tab]struct{}{}, seq: firstSeq, drawn: map[string]uint64{}, seed: maphash.MakeSeed(),
	}
}

func (v *view) add(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tabs[t] = struct{}{}
}

func (v *view) remove(t *tab) (left int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.tabs, t)
	return len(v.tabs)
}

func (v *view) each(do func(*tab)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for t := range v.tabs {
		do(t)
	}
}

func (v *view) nudge() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *view) run() {
	poll := time.NewTicker(tickEvery)
	defer poll.Stop()
	gap := time.NewTimer(0)
	defer gap.Stop()
	for {
		select {
		case <-v.hub.stop:
			return
		case <-v.empty:
			return
		case <-v.wake:
		case <-poll.C:
		}
		select { // hints that arrive in the gap become one look
		case <-v.hub.stop:
			return
		case <-v.empty:
			return
		case <-gap.C:
		}
		select {
		case <-v.wake:
		default:
		}
		began := time.Now()
		took := v.tick()
		// Slow looks are spaced out, so that a view costs at most a tenth of a connection,
		// but not so far that its page takes the silence for a lost connection.
		gap.Reset(max(v.hub.gap, min(10*took, tickMost)) - time.Since(began))
	}
}

// tick looks once and says how long that took, without the wait for a slot.
func (v *view) tick() (took time.Duration) {
	select {
	case v.hub.renders <- struct{}{}:
		defer func() { <-v.hub.renders }()
	case <-v.hub.stop:
		return 0
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), drawWait)
	defer cancel()
	p, err := v.scene.look(ctx)
	switch {
	case errors.Is(err, store.ErrNotFound): // the page itself is gone: its fetch says so
		v.each(func(t *tab) { t.send([]*websocket.PreparedMessage{v.reload()}, v.reload) })
	case err == nil:
		v.publish(p)
	}
	// Any other error: "as of" on the page stops, which is the truth.
	return time.Since(began)
}

// reload makes one page fetch itself. It takes no number of the sequence, which all
// sockets of the view share.
func (v *view) reload() *websocket.PreparedMessage {
	return prepare(frame{Seq: v.seq, Reload: true, AsOf: time.Now()})
}
