package store

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

// probe finds out whether a LISTEN is heard: through a pooler it reports success and
// nothing ever arrives. So a listener notifies itself until it has heard that once;
// before, it does not count as listening, and engines poll as often as without it.
type probe struct {
	db      *DB
	channel string
	word    string // tells our probes from those of other listeners
	look    chan struct{}

	mu    sync.Mutex
	sure  bool // heard since the last (re)connect
	wants bool // connected, and not sure
}

const (
	probePrefix = "probe "
	// The first probe comes soon: LISTEN follows the connect at once.
	probeFirst = 20 * time.Millisecond
	probeLater = pingEvery
)

func newProbe(db *DB, channel string) *probe {
	return &probe{db: db, channel: channel, word: probePrefix + rand.Text(), look: make(chan struct{}, 1)}
}

func isProbe(payload string) bool { return strings.HasPrefix(payload, probePrefix) }

// doubt begins the probing: the connection is new.
func (p *probe) doubt() {
	p.mu.Lock()
	p.sure, p.wants = false, true
	p.mu.Unlock()
	select {
	case p.look <- struct{}{}:
	default:
	}
}

// lose ends it with the connection; true: notifications had arrived until now.
func (p *probe) lose() (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, p.sure, p.wants = p.sure, false, false
	return was
}

// hears takes a probe that arrived; true: it is the first of ours on this connection.
func (p *probe) hears(payload string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if payload != p.word || !p.wants {
		return false
	}
	p.sure, p.wants = true, false
	return true
}

func (p *probe) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wants
}

// run sends probes while they are wanted, ever more rarely.
func (p *probe) run(ctx context.Context) {
	wait := time.Duration(0)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.look:
			wait = 0
		case <-timer.C:
		}
		if !p.wanted() {
			continue // the next connect looks again
		}
		if wait > 0 {
			send, cancel := context.WithTimeout(ctx, 5*time.Second)
			_ = p.db.notify(send, p.channel, []string{p.word}) // an error is as good as silence
			cancel()
		}
		wait = min(max(probeFirst, 4*wait), probeLater)
		timer.Reset(wait)
	}
}
