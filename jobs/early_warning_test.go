package jobs_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

var morning = time.Date(2026, 11, 29, 4, 20, 0, 0, time.UTC) // begin of what is looked at

// lately simulates the minutes of a watched span and the present one: rate is the
// chance of a first attempt in minute i, n how many there are.
func lately(seed uint64, n func(i int) int, rate func(i int) float64) []store.AttemptBucket {
	r := rand.New(rand.NewPCG(seed, 7))
	all := make([]store.AttemptBucket, int(jobs.WarnedSpan/time.Minute)+1)
	for i := range all {
		b := &all[i]
		b.At, b.First = morning.Add(time.Duration(i)*time.Minute), int64(n(i))
		for range n(i) {
			if r.Float64() < rate(i) {
				b.FirstOK++
			}
		}
	}
	return all
}

// usually is a week of the same rate around the clock.
func usually(rate float64) jobs.Baseline {
	var hours []store.AttemptHour
	for h := range 9 * 24 {
		hours = append(hours, store.AttemptHour{At: morning.Truncate(time.Hour).Add(time.Duration(h-8*24) * time.Hour), First: 1000, FirstOK: int64(rate * 1000)})
	}
	return jobs.NewBaseline(hours)
}

func always[T any](v T) func(int) T { return func(int) T { return v } }

func falling(at int) func(int) float64 {
	return func(i int) float64 {
		if i >= at {
			return 0.80
		}
		return 0.98
	}
}

// A provider that falls from 98 % to 80 % is called within three windows of five
// minutes, wherever in a window it falls.
func TestFallingProviderIsCalledWithinThreeWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		falls := 200 + int(seed%5)
		all := lately(seed, always(60), falling(falls))
		boundary := (falls + 4) / 5 * 5 // the slots hold to the clock, and morning does, too
		if w := jobs.EarlyWarning(all[:falls+1], usually(0.98)); w.On {
			t.Errorf("seed %d: on before it fell", seed)
		}
		w := jobs.EarlyWarning(all[:boundary+15+1], usually(0.98))
		if !w.On || !w.Began || w.Since.Before(morning.Add(time.Duration(falls-5)*time.Minute)) || w.Since.After(morning.Add(time.Duration(boundary+5)*time.Minute)) {
			t.Errorf("seed %d: three windows after minute %d: %+v", seed, falls, w)
		}
		if w.First < 50 || math.Abs(float64(w.FirstOK)/float64(w.First)-0.8) > 0.1 || w.Baseline != 0.98 {
			t.Errorf("seed %d: numbers %+v", seed, w)
		}
		// Every process finds the same episode later, as time goes on.
		for later := boundary + 16; later < len(all); later += 7 {
			if again := jobs.EarlyWarning(all[:later], usually(0.98)); !again.On || !again.Since.Equal(w.Since) {
				t.Fatalf("seed %d: minute %d says since %v, before %v", seed, later, again.Since, w.Since)
			}
		}
	}
}

// What is no outage is not called, at any minute of six hours.
func TestNoOutageIsNotCalled(t *testing.T) {
	t.Parallel()
	day := func(i int) int { return 40 + i%7 }
	for name, c := range map[string]struct {
		n        func(int) int
		rate     func(int) float64
		baseline jobs.Baseline
	}{
		"as usual":                          {day, always(0.98), usually(0.98)},
		"a little worse":                    {day, always(0.965), usually(0.98)},
		"a quiet night":                     {always(0), always(0.5), usually(0.98)},
		"a quiet night with a few failures": {func(i int) int { return i % 2 }, always(0.6), usually(0.98)},
		"a single bad minute": {day, func(i int) float64 {
			if i == 212 {
				return 0
			}
			return 0.98
		}, usually(0.98)},
		"a bad minute over the edge of two windows": {day, func(i int) float64 {
			if i == 214 || i == 215 {
				return 0.4
			}
			return 0.98
		}, usually(0.98)},
		"bad as always": {day, always(0.7), usually(0.7)},
		"no baseline":   {day, always(0.3), jobs.Baseline{}},
	} {
		for seed := range uint64(20) {
			all := lately(seed, c.n, c.rate)
			for now := 1; now <= len(all); now++ {
				if w := jobs.EarlyWarning(all[:now], c.baseline); w.On {
					t.Errorf("%s, seed %d: called at minute %d: %+v", name, seed, now, w)
					break
				}
			}
		}
	}
}

// The whole table of the hysteresis, a window of 100 a step: bad b, between m, good g,
// too few q.
func TestWarningBeginsAndEndsWithHysteresis(t *testing.T) {
	t.Parallel()
	ok := map[rune]int64{'b': 80, 'm': 95, 'g': 98}
	for windows, want := range map[string]bool{
		"ggggggggggggggggb": false, "ggggggggggggggggbb": true, "ggggggggggggggggbgb": false, "ggggggggggggggggbmb": false,
		"ggggggggggggggggbbg": true, "ggggggggggggggggbbgg": false, "ggggggggggggggggbbgm": true, "ggggggggggggggggbbgmg": true,
		"ggggggggggggggggbbgbg": true, "ggggggggggggggggbbmmmmm": true, "ggggggggggggggggbbqqqqq": true, "ggggggggggggggggbqb": true,
		"ggggggggggggggggbbqqqqqqqqqqqqqqqqqqqqqqqqq": false, "ggggggggggggggggbqqqqqqqqqqqqqqqqqqqqqqqqqb": false,
		"ggggggggggggggggbbqqqqqqqqqqqqqqqqqqqqqqqqqb": false, "ggggggggggggggggbbggbb": true, "ggggggggggggggggbbggb": false,
	} {
		all := []store.AttemptBucket{}
		at := morning.Truncate(time.Hour)
		for _, w := range windows {
			for i := range 5 {
				b := store.AttemptBucket{At: at, First: 20, FirstOK: ok[w] / 5}
				if w == 'm' && i == 0 { // 95 of 100: the interval reaches over the margin, the rate does not
					b.FirstOK = 95 - 4*19
				}
				if w == 'q' {
					b.First, b.FirstOK = 0, 0
				}
				if all, at = append(all, b), at.Add(time.Minute); w == 'g' && i < 3 {
					all[len(all)-1].FirstOK = 20
				} else if w == 'g' {
					all[len(all)-1].FirstOK = 19
				}
			}
		}
		all = append(all, store.AttemptBucket{At: at})
		if got := jobs.EarlyWarning(all, usually(0.98)); got.On != want {
			t.Errorf("%s: %+v, want on %v", windows, got, want)
		}
	}
}

// An episode that is as old as what is looked at has begun earlier: it is not told again.
func TestBeginOutOfSightIsNoBegin(t *testing.T) {
	t.Parallel()
	if w := jobs.EarlyWarning(lately(1, always(60), always(0.8)), usually(0.98)); !w.On || w.Began {
		t.Errorf("%+v", w)
	}
}

// A few jobs a minute are judged as well, by longer windows.
func TestSparseTrafficIsJudged(t *testing.T) {
	t.Parallel()
	w := jobs.EarlyWarning(lately(3, always(2), falling(160)), usually(0.98))
	if !w.On || w.To.Sub(w.From) < 25*time.Minute || w.First < 50 {
		t.Errorf("%+v", w)
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 10, 25, 0, 0, time.UTC)
	hours := func(rates ...int64) (all []store.AttemptHour) {
		for day, ok := range rates {
			if ok >= 0 {
				all = append(all, store.AttemptHour{At: now.Truncate(time.Hour).Add(-time.Duration(day+1) * 24 * time.Hour), First: 100, FirstOK: ok})
			}
		}
		return all
	}
	for _, c := range []struct {
		name  string
		hours []store.AttemptHour
		want  float64
		ok    bool
	}{
		{"none", nil, 0, false},
		{"two days", hours(98, 97), 0, false},
		{"three days", hours(98, 97, 50), 0.97, true},
		{"four", hours(98, 97, 50, 96), 0.965, true},
		{"a bad day does not move the median", hours(98, 98, 98, 98, 0, 98, 98), 0.98, true},
		{"the eighth day is too old", hours(-1, -1, -1, -1, -1, 90, 90, 90), 0, false},
		{"days with few say nothing", append(hours(98, 97), store.AttemptHour{At: now.Truncate(time.Hour).Add(-72 * time.Hour), First: 49}), 0, false},
	} {
		if got, ok := jobs.NewBaseline(c.hours).At(now, 5*time.Minute); math.Abs(got-c.want) > 1e-9 || ok != c.ok {
			t.Errorf("%s: %v, %v", c.name, got, ok)
		}
	}
	// A wide window takes all the hours it covers.
	wide := append(hours(100, 100, 100), store.AttemptHour{}, store.AttemptHour{})
	for i := range 3 {
		wide = append(wide, store.AttemptHour{At: wide[i].At.Add(time.Hour), First: 300, FirstOK: 150})
	}
	if got, _ := jobs.NewBaseline(wide).At(now.Truncate(time.Hour), 2*time.Hour); got != 250.0/400 {
		t.Errorf("two hours: %v", got)
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ok, n     int64
		low, high float64
	}{{0, 0, 0, 1}, {10, 10, 0.7225, 1}, {0, 10, 0, 0.2775}, {80, 100, 0.7112, 0.8666}, {98, 100, 0.9300, 0.9945}} {
		low, high := jobs.Wilson(c.ok, c.n)
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.ok, c.n, low, high, c.low, c.high)
		}
	}
}
