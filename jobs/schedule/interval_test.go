package schedule

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestCRN20_IntervalsDoNotDrift(t *testing.T) {
	t.Parallel()
	start := at(t, "2026-05-05T10:00:00.123456Z")
	every, err := Interval(10 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s, err := every.Within(Bounds{Start: start})
	if err != nil {
		t.Fatal(err)
	}
	tick := start
	for k := 1; k <= 100; k++ {
		next := s.Next(tick)
		if want := start.Add(time.Duration(k) * 10 * time.Second); !next.Equal(want) {
			t.Fatalf("fire %d is %v, want %v", k, next, want)
		}
		tick = next.Add(rand.N(9999 * time.Millisecond)) // noticed late, never by the same
	}
}

func TestIntervalWithoutStartCountsFrom1970(t *testing.T) {
	t.Parallel()
	wantFires(t, must(t, "@every 7m", "Asia/Tokyo"), "1970-01-01T00:00:00Z", "1970-01-01T00:07:00Z", "1970-01-01T00:14:00Z")
	wantFires(t, must(t, "@every 7m", ""), "1969-12-31T23:52:59.9Z", "1969-12-31T23:53:00Z", "1970-01-01T00:00:00Z")
	wantFires(t, must(t, "@EVERY 1.5s", ""), "2026-01-01T00:00:00Z", "2026-01-01T00:00:01.5Z")
}

func TestIntervalLimits(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, -1, -time.Hour, time.Nanosecond, time.Second - 1, time.Second + 1, MaxInterval + time.Millisecond, 1<<63 - 1, -1 << 63} {
		_, err := Interval(d)
		wantRefused(t, err, "interval", d.String())
	}
	for _, d := range []time.Duration{MinInterval, 1500 * time.Millisecond, 90 * time.Second, MaxInterval} {
		s, err := Interval(d)
		if err != nil {
			t.Fatal(err)
		}
		if again := must(t, s.Spec(), ""); again.Every() != d || s.Every() != d {
			t.Errorf("%v became %v", d, again.Every())
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	noon := at(t, "2026-05-05T12:00:00Z")
	hourly, every := must(t, "0 * * * *", ""), must(t, "@every 1h", "")
	within := func(s Schedule, b Bounds) Schedule {
		t.Helper()
		bounded, err := s.Within(b)
		if err != nil {
			t.Fatal(err)
		}
		return bounded
	}
	both := Bounds{Start: noon, End: noon.Add(2 * time.Hour)}
	for _, s := range []Schedule{hourly, every} {
		s := within(s, both)
		wantFires(t, s, "2020-01-01T00:00:00Z", "2026-05-05T12:00:00Z", "2026-05-05T13:00:00Z", "2026-05-05T14:00:00Z", "none")
		wantFires(t, s, "2026-05-05T12:00:00Z", "2026-05-05T13:00:00Z")
		if n := len(s.Upcoming(time.Time{}, 9)); n != 3 || s.Bounds() != both {
			t.Error(n, s.Bounds())
		}
		s = within(s, Bounds{}) // taken away again
		wantFires(t, s, "2026-05-05T14:00:00Z", "2026-05-05T15:00:00Z")
	}
	wantFires(t, within(hourly, Bounds{Start: noon.Add(time.Microsecond)}), "2020-01-01T00:00:00Z", "2026-05-05T13:00:00Z")
	wantFires(t, within(hourly, Bounds{Start: noon, End: noon}), "2020-01-01T00:00:00Z", "2026-05-05T12:00:00Z", "none")
	// Postgres keeps microseconds: a fire between two of them would come back changed.
	wantFires(t, within(every, Bounds{Start: noon.Add(1999)}), "2026-05-05T11:30:00Z",
		"2026-05-05T12:00:00.000001Z", "2026-05-05T13:00:00.000001Z")

	for field, b := range map[string]Bounds{
		"end": {Start: noon, End: noon.Add(-time.Second)}, "start": {Start: at(t, "9999-12-31T23:59:59Z").Add(time.Second)},
	} {
		_, err := hourly.Within(b)
		wantRefused(t, err, field, "")
	}
	_, err := hourly.Within(Bounds{Start: noon.Add(time.Minute), End: noon.Add(59 * time.Minute)})
	wantRefused(t, err, "end", "never fires up to 2026-05-05 12:59:00 UTC")
	_, err = must(t, "0 0 29 2 *", "").Within(Bounds{Start: noon, End: noon.AddDate(1, 0, 0)})
	wantRefused(t, err, "end", "never fires")
}
