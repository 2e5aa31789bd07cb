package schedule

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Rows 102 to 121 of the conformance list: Quartz.NET 4's retry engine, an
// hourly trigger that fired at 10:00. Each step fails at once at its retry time.
func TestConformanceRetry(t *testing.T) {
	t.Parallel()
	const tick = 100 * time.Nanosecond
	ten, minute := at(t, "2026-05-05T10:00:00Z"), time.Minute
	for name, c := range map[string]struct {
		waits []time.Duration // after each failure
		end   time.Duration   // after 10:00; 0: none
		runs  []time.Duration // retries that are accepted, after 10:00
	}{
		"102 fixed":                          {[]time.Duration{5 * minute}, 0, []time.Duration{5 * minute}},
		"103 counted from the last failure":  {[]time.Duration{minute, 2 * minute, 4 * minute}, 0, []time.Duration{minute, 3 * minute, 7 * minute}},
		"104 success, 110 and 121 no policy": {nil, 0, nil},
		"105 third failure of two retries":   {[]time.Duration{5 * minute, 5 * minute}, 0, []time.Duration{5 * minute, 10 * minute}},
		"106 past the next fire":             {[]time.Duration{90 * minute}, 0, nil},
		"107 59:59":                          {[]time.Duration{59*minute + 59*time.Second}, 0, nil},
		"107 one tick less":                  {[]time.Duration{59*minute + 59*time.Second - tick}, 0, []time.Duration{59*minute + 59*time.Second - tick}},
		"108 past the end":                   {[]time.Duration{5 * minute}, 2 * minute, nil},
		"109 at the end":                     {[]time.Duration{5 * minute}, 5 * minute, []time.Duration{5 * minute}},
	} {
		s := must(t, "0 * * * *", "")
		if c.end != 0 {
			var err error
			if s, err = s.Within(Bounds{Start: ten, End: ten.Add(c.end)}); err != nil {
				t.Fatal(err)
			}
		}
		failed, n := ten, 0
		for _, w := range c.waits {
			if !s.RetryFits(failed, failed.Add(w)) {
				break
			}
			failed = failed.Add(w)
			if n >= len(c.runs) || failed.Sub(ten) != c.runs[n] {
				t.Errorf("%s: a retry at %v", name, failed)
			}
			n++
		}
		if n != len(c.runs) {
			t.Errorf("%s: %d retries, want %d", name, n, len(c.runs))
		}
		if next := s.Next(failed); c.end == 0 && !next.Equal(ten.Add(time.Hour)) {
			t.Errorf("%s: next is %v", name, next)
		}
	}
}

// Row 115: waits that outgrow every calendar are dropped, not overflowed.
func TestConformance115_GrowingWaits(t *testing.T) {
	t.Parallel()
	fired := at(t, "2026-05-05T10:00:00Z")
	yearly, landed := must(t, "@every 8784h", ""), 0
	wait := time.Second
	for failed := fired; landed < 20 && yearly.RetryFits(failed, failed.Add(wait)); landed++ {
		failed = failed.Add(wait)
		if wait > math.MaxInt64/10 {
			wait = math.MaxInt64
		} else {
			wait *= 10
		}
	}
	if landed != 8 { // 1 s, 10 s … 10^7 s (116 days); 10^8 s are three years
		t.Errorf("%d retries landed", landed)
	}
	if !RetryFits(fired.Add(math.MaxInt64), time.Time{}) {
		t.Error("without a next fire every retry fits")
	}
}

// Row 116: a retry in between moves no schedule's next fire.
func TestConformance116_SameNextFireAfterARetry(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"0 * * * *", "@every 1h", "0 10 * * *", "0 0 10 5 5 *", "0 10 * * 2"} {
		s := must(t, spec, "")
		fire := s.Next(at(t, "2026-05-05T09:30:00Z"))
		if next := s.Next(fire); !s.Next(fire.Add(5 * time.Minute)).Equal(next) {
			t.Errorf("%s moved", spec)
		}
	}
}

func TestWarnRetry(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-05-05T10:30:00Z")
	for _, c := range []struct {
		spec, zone string
		gap        time.Duration
	}{
		{"0 * * * *", "", time.Hour}, {"@every 90s", "", 90 * time.Second}, {"* * * * * *", "Europe/London", time.Second},
		{"59,0 * * * * *", "", time.Second}, {"0 9,17 * * *", "", 8 * time.Hour}, {"0 0 * * *", "", 24 * time.Hour},
		{"0 12 * * *", "Europe/London", 23 * time.Hour},
		{"30 2 * * *", "America/New_York", 23*time.Hour + 30*time.Minute}, // 07:00 to 06:30 after the gap
		{"5 2,3 * * *", "America/New_York", 5 * time.Minute},              // 02:05 moves to 03:00
		{"5,25,45 0-22 * * *", "America/New_York", 5 * time.Minute},       // 02:05 to 02:45 as well, long after the sample
		{"0 0 1 1 *", "", 0}, {"0 0 29 2 *", "", 0},
	} {
		s := must(t, c.spec, c.zone)
		if gap, _ := s.SmallestGap(now); gap != c.gap {
			t.Errorf("%s %s: gap %v, want %v", c.spec, c.zone, gap, c.gap)
		}
		if c.gap == 0 {
			continue
		}
		// Between fires one second apart not even an immediate retry fits.
		if _, warn := WarnRetry([]time.Duration{0, c.gap - time.Second - 1, 0}, s, now); warn && c.gap > time.Second {
			t.Errorf("%s: warned of a wait that fits", c.spec)
		}
		conflict, warn := WarnRetry([]time.Duration{0, c.gap - time.Second, 0}, s, now)
		if !warn || !strings.Contains(conflict.String(), "waits up to "+(words{english}).duration(conflict.Wait)+", but the schedule can fire again after "+(words{english}).duration(c.gap)+" (from 2") || !s.Next(conflict.At).Equal(conflict.At.Add(c.gap)) {
			t.Errorf("%s: %v, %v", c.spec, warn, conflict)
		}
	}
	if _, warn := WarnRetry(nil, must(t, "* * * * * *", ""), now); warn {
		t.Error("row 121: no policy, no warning")
	}
	if _, warn := WarnRetry([]time.Duration{time.Hour}, must(t, "0 0 1 1 *", ""), now); warn {
		t.Error("one fire a year has no gap")
	}
}
