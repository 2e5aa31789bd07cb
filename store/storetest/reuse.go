package storetest

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// mostParked leaves most of the private server's connections to the tests that run.
const mostParked = 150

// lot keeps the server processes whose connections tests have closed: to start one
// costs more than what most tests do with it, and one that has run knows the tables.
var lot = parking{holders: map[string]*session{}}

type parking struct {
	mu      sync.Mutex
	parked  []*backend          // in the order in which they were parked
	holders map[string]*session // by the key that cancels their statements
}

// dialReusing is for store.Options. Nothing is dialled before the first message is
// written, since that decides which backend fits.
func dialReusing(ctx context.Context, network, address string) (net.Conn, error) {
	ctx = context.WithoutCancel(ctx) // its deadline comes again as the session's
	return &session{dial: func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, network, address) }}, nil
}

// reusing is dialReusing for lib/pq.
type reusing struct{}

func (reusing) Dial(network, address string) (net.Conn, error) {
	return dialReusing(context.Background(), network, address)
}

func (r reusing) DialTimeout(network, address string, _ time.Duration) (net.Conn, error) {
	return r.Dial(network, address)
}

// take returns the backend that was parked last of those that answered the same
// startup message, nil if there is none.
func (p *parking) take(startup string) *backend {
	for {
		b := p.remove(startup)
		if b == nil || b.wake() == nil {
			return b
		}
		b.Close()
	}
}

func (p *parking) remove(startup string) *backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range slices.Backward(p.parked) {
		if b.startup == startup {
			p.parked = slices.Delete(p.parked, i, i+1)
			return b
		}
	}
	return nil
}

// park closes the backend that waited longest if there are too many.
func (p *parking) park(b *backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked = append(p.parked, b)
	if len(p.parked) > mostParked {
		p.parked[0].Close()
		p.parked = slices.Delete(p.parked, 0, 1)
	}
}

// clear closes those of a database that nobody will use again.
func (p *parking) clear(database string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked = slices.DeleteFunc(p.parked, func(b *backend) bool {
		gone := b.database() == database
		if gone {
			b.Close()
		}
		return gone
	})
}

// hold lets the session's statements be cancelled by a key that nobody had before.
func (p *parking) hold(s *session, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holders[key] = s
}

func (p *parking) release(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.holders, key)
}

// holder is nil when the backend is parked or has its next user: lib/pq may cancel a
// statement after it closed the connection.
func (p *parking) holder(key string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holders[key]
}
