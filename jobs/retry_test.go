package jobs

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestHangfireBandsAndWindow(t *testing.T) {
	t.Parallel()
	p := DefaultRetry()
	for _, c := range []struct{ n, lo, hi int }{{1, 15, 44}, {2, 16, 74}, {3, 31, 118}, {10, 6576, 6866}} {
		lo, hi := p.WaitBand(c.n)
		if lo != time.Duration(c.lo)*time.Second || hi != time.Duration(c.hi)*time.Second {
			t.Errorf("n=%d: %v..%v, want %d..%d s", c.n, lo, hi, c.lo, c.hi)
		}
		if p.Wait(c.n, nil, zero) != lo || p.Wait(c.n, nil, top) != hi {
			t.Errorf("n=%d: waits with r=0 and r=29 are not the band's ends", c.n)
		}
	}
	lo, hi := p.Window()
	if lo != 15483*time.Second || hi != 17078*time.Second {
		t.Errorf("window %v..%v, want 15483..17078 s", lo, hi)
	}
	if got, want := p.Horizon(time.Minute), 17078*time.Second+11*time.Minute; got != want {
		t.Errorf("horizon %v, want %v", got, want)
	}
	if got := p.Horizon(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("horizon of endless runs %v, want it to stop at the largest Duration", got)
	}
}

func TestRTY01HangfireNeverOverflows(t *testing.T) {
	t.Parallel()
	if lo, hi := hangfireSeconds(310, 0), hangfireSeconds(310, 29); lo != 9_116_621_376 || hi != 9_116_630_366 {
		t.Errorf("n=310: %.0f..%.0f s before the cap", lo, hi)
	}
	last := time.Duration(0)
	for _, n := range []int{math.MinInt, 0, 1, 2, 41, 42, 309, 310, 311, 312, 1000, 1 << 20, math.MaxInt} {
		d := DefaultRetry().Wait(n, nil, zero)
		if d < last || d > MaxWait || d < 0 {
			t.Errorf("n=%d: %v after %v", n, d, last)
		}
		last = d
	}
	if last != MaxWait {
		t.Errorf("the largest n waits %v, want the cap %v", last, MaxWait)
	}
}

func TestRTY06DelaysRepeatTheLast(t *testing.T) {
	t.Parallel()
	p := RetryPolicy{MaxRetries: 4, Delays: []time.Duration{2 * time.Second, 5 * time.Second}}
	for n, want := range []int{2, 2, 5, 5, 5} {
		if got := p.Wait(n, nil, zero); got != time.Duration(want)*time.Second {
			t.Errorf("n=%d: %v, want %d s", n, got, want)
		}
	}
	if lo, hi := p.Window(); lo != 17*time.Second || hi != lo {
		t.Errorf("window %v..%v, want 17s", lo, hi)
	}
}

func TestBackoffs(t *testing.T) {
	t.Parallel()
	exp := Exponential(2*time.Second, 2, time.Minute, 0)
	jittered := Exponential(10*time.Second, 2, time.Minute, 0.5)
	for _, c := range []struct {
		name string
		b    Backoff
		n    int
		rnd  float64
		want time.Duration
	}{
		{"zero value", Backoff{}, 1, 0, 15 * time.Second},
		{"fixed", Fixed(time.Second), 99, 0, time.Second},
		{"exponential 1", exp, 1, 0, 2 * time.Second},
		{"exponential 3", exp, 3, 0, 8 * time.Second},
		{"exponential at its limit", exp, 6, 0, time.Minute},
		{"exponential overflown", exp, math.MaxInt, 0, time.Minute},
		{"exponential from 0", Exponential(0, 2, 0, 0), math.MaxInt, 0, 0},
		{"exponential without limit", Exponential(time.Second, 10, 0, 0), 500, 0, MaxWait},
		{"jitter takes nothing", jittered, 1, 0, 10 * time.Second},
		{"jitter takes half", jittered, 1, 1, 5 * time.Second},
		{"func", Func(func(n int, _ error) time.Duration { return time.Duration(n) }), 3, 0, 3},
		{"func negative", Func(func(int, error) time.Duration { return -1 }), 1, 0, 15 * time.Second},
		{"func absurd", Func(func(int, error) time.Duration { return math.MaxInt64 }), 2, 0, 16 * time.Second},
		{"rnd out of range", Hangfire(), 1, 7, 44 * time.Second},
		{"rnd no number", Hangfire(), 1, math.NaN(), 15 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := RetryPolicy{Backoff: c.b}
			got := p.Wait(c.n, nil, func() float64 { return c.rnd })
			if got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if lo, hi := p.WaitBand(c.n); got < lo || got > hi {
				t.Errorf("%v outside its band %v..%v", got, lo, hi)
			}
			if err := p.Validate(); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
	if d := (RetryPolicy{}).Wait(1, nil, nil); d < 15*time.Second || d > 44*time.Second {
		t.Errorf("with the default source: %v", d)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    RetryPolicy
		want string
	}{
		{RetryPolicy{MaxRetries: MaxRetriesLimit + 1}, "RetryPolicy.MaxRetries: 100001 is outside 0 to 100000"},
		{RetryPolicy{Delays: make([]time.Duration, MaxDelays+1)}, "RetryPolicy.Delays: 1001 entries: at most 1000"},
		{RetryPolicy{Delays: []time.Duration{MaxWait + 1}}, "RetryPolicy.Delays[0]: "},
		{RetryPolicy{Backoff: Fixed(-1)}, "RetryPolicy.Backoff: Fixed(-1ns)"},
		{RetryPolicy{Backoff: Exponential(-1, 1, 0, 0)}, "RetryPolicy.Backoff: Exponential: initial"},
		{RetryPolicy{Backoff: Exponential(1, 0.9, 0, 0)}, "RetryPolicy.Backoff: Exponential: factor 0.9"},
		{RetryPolicy{Backoff: Exponential(1, math.NaN(), 0, 0)}, "RetryPolicy.Backoff: Exponential: factor NaN"},
		{RetryPolicy{Backoff: Exponential(1, 1, -1, 0)}, "RetryPolicy.Backoff: Exponential: limit"},
		{RetryPolicy{Backoff: Exponential(1, 1, 0, 1.1)}, "RetryPolicy.Backoff: Exponential: jitter 1.1 is outside 0 to 1"},
		{RetryPolicy{ExceptOn: []Matcher{Is(nil)}}, "RetryPolicy.ExceptOn[0]: Is(nil)"},
		{RetryPolicy{OnlyOn: []Matcher{As[error](), {}}}, "RetryPolicy.OnlyOn[1]: the zero Matcher"},
		{RetryPolicy{OnlyOn: []Matcher{MatchFunc("x", nil)}}, "RetryPolicy.OnlyOn[0]: MatchFunc"},
		{RetryPolicy{OnExceeded: 7}, "RetryPolicy.OnExceeded: 7"},
	} {
		if err := c.p.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want it to start with %q", err, c.want)
		}
	}
	all := RetryPolicy{MaxRetries: -1, Delays: []time.Duration{}}.Validate()
	if all == nil || strings.Count(all.Error(), "RetryPolicy.") != 2 {
		t.Errorf("two faults reported as %v", all)
	}
}

func TestOneExplicitNoRetryAndOneUnset(t *testing.T) {
	t.Parallel()
	none := RetryPolicy{}
	for _, c := range []struct {
		name      string
		job, kind *RetryPolicy
		client    RetryPolicy
		max       int
		from      string
	}{
		{"all unset", nil, nil, RetryPolicy{}, 10, "client"},
		{"client says none", nil, nil, NoRetry(), 0, "client"},
		{"kind says none", nil, &none, RetryPolicy{MaxRetries: 5}, 0, "kind"},
		{"job says none", &none, &RetryPolicy{MaxRetries: 4}, RetryPolicy{}, 0, "job"},
		{"job over kind", &RetryPolicy{MaxRetries: 2}, &RetryPolicy{MaxRetries: 4}, RetryPolicy{}, 2, "job"},
	} {
		p, from := effectivePolicy(c.job, c.kind, c.client)
		if p.MaxRetries != c.max || from != c.from {
			t.Errorf("%s: %d from %q, want %d from %q", c.name, p.MaxRetries, from, c.max, c.from)
		}
	}
	kind := RetryPolicy{ExceptOn: []Matcher{Is(errors.ErrUnsupported)}}
	if p, _ := effectivePolicy(&RetryPolicy{MaxRetries: 9}, &kind, RetryPolicy{}); len(p.ExceptOn) != 1 {
		t.Error("a job's own policy switched off the kind's ExceptOn")
	}
}

func TestBackoffInWords(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]Backoff{
		"hangfire": {},
		"fixed 5s": Fixed(5 * time.Second),
		"exponential 2s ×1.5, at most 1m0s, jitter 20%": Exponential(2*time.Second, 1.5, time.Minute, 0.2),
		"exponential 2s ×2, at most 720h0m0s":           Exponential(2*time.Second, 2, 0, 0),
		"func":                                          Func(nil),
	} {
		if b.String() != want {
			t.Errorf("%q, want %q", b, want)
		}
	}
}
