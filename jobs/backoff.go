package jobs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Backoff computes the wait before each retry. Its zero value is Hangfire().
type Backoff struct {
	kind           backoffKind
	initial, limit time.Duration
	factor, jitter float64
	fn             func(n int, err error) time.Duration
}

type backoffKind string

const (
	backoffHangfire    backoffKind = "hangfire"
	backoffFixed       backoffKind = "fixed"
	backoffExponential backoffKind = "exponential"
	backoffFunc        backoffKind = "func"
)

// Hangfire waits (n-1)⁴ + 15 + r·n seconds before retry n, with r a whole
// number from 0 to 29 drawn afresh each time: 15..44 s, 16..74 s, 31..118 s,
// … and never more than MaxWait, which it reaches at n = 42.
func Hangfire() Backoff { return Backoff{kind: backoffHangfire} }

// Fixed waits d, from 0 to MaxWait, before every retry.
func Fixed(d time.Duration) Backoff { return Backoff{kind: backoffFixed, initial: d} }

// Exponential waits initial·factorⁿ⁻¹ before retry n, but never more than limit.
// factor is 1 or more. jitter, from 0 to 1, is the share of each wait that
// chance may take away: 0.2 gives 80 to 100 % of it, 1 gives 0 to 100 %. limit 0
// means MaxWait, which is also the most it may be.
func Exponential(initial time.Duration, factor float64, limit time.Duration, jitter float64) Backoff {
	return Backoff{kind: backoffExponential, initial: initial, factor: factor, limit: limit, jitter: jitter}
}

// Func asks f for the wait before retry n (1-based) after err. It runs on the
// server, must not block, and may be called from many goroutines at once. If it
// panics, or answers a negative wait or one above MaxWait, the wait is
// Hangfire's and the fault is logged: a bug in it never stops a job from being
// settled.
func Func(f func(n int, err error) time.Duration) Backoff {
	return Backoff{kind: backoffFunc, fn: f}
}

// String describes the backoff in a few words.
func (b Backoff) String() string {
	switch b.kind {
	case backoffFixed:
		return fmt.Sprintf("fixed %v", b.initial)
	case backoffExponential:
		s := fmt.Sprintf("exponential %v ×%g, at most %v", b.initial, b.factor, b.most())
		if b.jitter > 0 {
			s += fmt.Sprintf(", jitter %g%%", b.jitter*100)
		}
		return s
	case backoffFunc:
		return "func"
	}
	return "hangfire"
}

// problem names the first parameter outside its limits.
func (b Backoff) problem() (field, problem string) {
	outside := func(d time.Duration) bool { return d < 0 || d > MaxWait }
	switch b.kind {
	case "", backoffHangfire:
	case backoffFixed:
		if outside(b.initial) {
			return "Backoff", fmt.Sprintf("Fixed(%v) is outside 0 to %v", b.initial, MaxWait)
		}
	case backoffExponential:
		switch {
		case outside(b.initial):
			return "Backoff", fmt.Sprintf("Exponential: initial %v is outside 0 to %v", b.initial, MaxWait)
		case !(b.factor >= 1) || math.IsInf(b.factor, 0): // the negated form catches NaN
			return "Backoff", fmt.Sprintf("Exponential: factor %v is not a number of at least 1", b.factor)
		case outside(b.limit):
			return "Backoff", fmt.Sprintf("Exponential: limit %v is outside 0 to %v", b.limit, MaxWait)
		case !(b.jitter >= 0 && b.jitter <= 1):
			return "Backoff", fmt.Sprintf("Exponential: jitter %v is outside 0 to 1", b.jitter)
		}
	case backoffFunc:
		if b.fn == nil {
			return "Backoff", "Func(nil) computes nothing"
		}
	default:
		return "Backoff", fmt.Sprintf("unknown kind %q", string(b.kind))
	}
	return "", ""
}

func (b Backoff) most() time.Duration {
	if b.limit == 0 {
		return MaxWait
	}
	return b.limit
}

// wait gives a wait from 0 to MaxWait and, if a Func misbehaved, what it did.
func (b Backoff) wait(n int, err error, rnd func() float64) (time.Duration, string) {
	if rnd == nil {
		rnd = rand.Float64
	}
	switch b.kind {
	case backoffFixed:
		return clampWait(b.initial), ""
	case backoffExponential:
		_, longest := b.band(n)
		share := 1 - b.jitter*min(max(rnd(), 0), 1)
		return clampWait(time.Duration(float64(longest) * share)), ""
	case backoffFunc:
		d, fault := b.ask(n, err)
		if fault != "" {
			d = hangfireWait(n, draw(rnd))
		}
		return d, fault
	}
	return hangfireWait(n, draw(rnd)), ""
}

// band gives the shortest and the longest wait before retry n.
func (b Backoff) band(n int) (shortest, longest time.Duration) {
	switch b.kind {
	case backoffFixed:
		return clampWait(b.initial), clampWait(b.initial)
	case backoffExponential:
		longest = b.most()
		grown := float64(b.initial) * math.Pow(b.factor, float64(n-1))
		if b.initial <= 0 {
			longest = 0 // 0 times an overflown power is no number
		} else if grown < float64(longest) {
			longest = time.Duration(grown)
		}
		return clampWait(time.Duration(float64(longest) * (1 - b.jitter))), clampWait(longest)
	case backoffFunc:
		return 0, MaxWait
	}
	return hangfireWait(n, 0), hangfireWait(n, 29)
}

func (b Backoff) ask(n int, err error) (d time.Duration, fault string) {
	defer func() {
		if v := recover(); v != nil {
			fault = "backoff func panicked: " + describe(v)
		}
	}()
	d = b.fn(n, err)
	if d < 0 || d > MaxWait {
		return 0, fmt.Sprintf("backoff func answered %v, outside 0 to %v", d, MaxWait)
	}
	return d, ""
}

// draw turns a number in [0, 1) into Hangfire's r, whatever a test source gives.
func draw(rnd func() float64) int { return min(max(int(rnd()*30), 0), 29) }

func hangfireWait(n, r int) time.Duration {
	s := hangfireSeconds(n, r)
	if s >= MaxWait.Seconds() {
		return MaxWait
	}
	return time.Duration(s) * time.Second
}

// hangfireSeconds is the formula before the cap. From n = 311 a Duration could
// not hold it; a float64 is exact far beyond that and never wraps around.
func hangfireSeconds(n, r int) float64 {
	m := float64(n) - 1
	return m*m*m*m + 15 + float64(r)*float64(n)
}
