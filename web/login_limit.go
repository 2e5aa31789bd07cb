package web

import (
	"net/netip"
	"sync"
	"time"
)

// How often an address may give a wrong password: so many at once, then one each.
const (
	loginBurst = 10
	loginEach  = 30 * time.Second
	maxLimited = 4096 // addresses; about 400 KB
)

// loginLimit counts wrong passwords by address. Its memory is bounded: when more
// addresses than that are guessing, new ones share one allowance.
type loginLimit struct {
	mu   sync.Mutex
	seen map[netip.Prefix]*allowance
	rest allowance
}

// allowance is how many wrong passwords are left, as of a time.
type allowance struct {
	left float64
	at   time.Time
}

func newLoginLimit() *loginLimit {
	return &loginLimit{seen: map[netip.Prefix]*allowance{}, rest: allowance{left: loginBurst}}
}

// take uses up one try, given back by giveBack when the password was right. wait is
// how long until the next one, 0 when this one is allowed.
func (l *loginLimit) take(from netip.Addr, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of(from, now)
	a.refill(now)
	if a.left < 1 {
		return time.Duration((1 - a.left) * float64(loginEach))
	}
	a.left--
	return 0
}

func (l *loginLimit) giveBack(from netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of(from, now)
	a.left = min(a.left+1, loginBurst)
}

func (l *loginLimit) of(from netip.Addr, now time.Time) *allowance {
	key := sameHost(from)
	if a := l.seen[key]; a != nil {
		return a
	}
	if len(l.seen) >= maxLimited {
		for k, a := range l.seen {
			if a.refill(now); a.left >= loginBurst {
				delete(l.seen, k)
			}
		}
	}
	if len(l.seen) >= maxLimited {
		return &l.rest
	}
	a := &allowance{left: loginBurst, at: now}
	l.seen[key] = a
	return a
}

func (a *allowance) refill(now time.Time) {
	if d := now.Sub(a.at); d > 0 {
		a.left = min(loginBurst, a.left+float64(d)/float64(loginEach))
	}
	a.at = now
}

// sameHost is what one person holds: an address, of IPv6 a network of 64 bits.
func sameHost(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(a, bits).Masked()
}
