package web

import (
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"
)

func TestLoginLimitIsBounded(t *testing.T) {
	t.Parallel()
	l, now := newLoginLimit(), time.Unix(1_000_000, 0)
	for i := range 3 * maxLimited {
		l.take(netip.MustParseAddr(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)), now)
	}
	if len(l.seen) != maxLimited {
		t.Errorf("%d addresses are kept, want %d", len(l.seen), maxLimited)
	}
	if l.take(netip.MustParseAddr("192.0.2.1"), now) == 0 {
		t.Error("a new address got through while too many are guessing")
	}
	later := now.Add(loginBurst * loginEach)
	if l.take(netip.MustParseAddr("192.0.2.1"), later) != 0 || len(l.seen) > 2 {
		t.Errorf("after the allowances came back %d addresses are kept", len(l.seen))
	}
}

func TestLoginLimitCountsHosts(t *testing.T) {
	t.Parallel()
	l, now := newLoginLimit(), time.Unix(1_000_000, 0)
	for i := range loginBurst {
		if l.take(netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1)), now) != 0 {
			t.Fatalf("try %d was refused", i+1)
		}
	}
	if wait := l.take(netip.MustParseAddr("2001:db8::ffff"), now); wait != loginEach {
		t.Errorf("the same network of 64 bits waits %v, want %v", wait, loginEach)
	}
	if l.take(netip.MustParseAddr("2001:db8:0:1::1"), now) != 0 {
		t.Error("another network pays for it")
	}
	if l.take(netip.MustParseAddr("2001:db8::1"), now.Add(loginEach)) != 0 {
		t.Error("the next try never comes")
	}
	if l.take(netip.MustParseAddr("2001:db8::1"), now) == 0 {
		t.Error("a clock that jumps back gives tries away")
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	logged := 0
	r, now := newRefusals(slog.New(slog.DiscardHandler)), time.Unix(1_000_000, 0)
	for i := range 3 * maxRefused {
		if r.first(fmt.Sprint(i), now) {
			logged++
		}
	}
	if logged != maxRefused || len(r.seen) != maxRefused || r.first("0", now) {
		t.Errorf("logged %d, kept %d", logged, len(r.seen))
	}
	if !r.first("0", now.Add(refusedAgain)) || len(r.seen) != 1 {
		t.Errorf("after the time is over %d are kept", len(r.seen))
	}
}
