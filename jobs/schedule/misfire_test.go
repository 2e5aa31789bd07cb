package schedule

import (
	"testing"
	"time"
)

// Rows 68 to 72 of the conformance list: what Hangfire asserts for its modes.
// Ours name the due times themselves where Hangfire's Strict does too.
func TestConformanceMisfire(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	noon := at(t, "2026-05-05T12:00:00Z")
	for name, c := range map[string]struct {
		spec string
		ago  time.Duration // last, before now
		now  time.Time
		mode Misfire
		want []time.Duration // before now
		next time.Duration   // after now
	}{
		"68 relaxed, a day ago":               {"*/30 * * * *", day, noon, RunOnce, []time.Duration{0}, 30 * time.Minute},
		"68 relaxed, off the grid":            {"*/30 * * * *", day, noon.Add(10 * time.Minute), RunOnce, []time.Duration{10 * time.Minute}, 20 * time.Minute},
		"69 strict, three hours ago":          {"30 * * * *", 3 * time.Hour, noon, RunAll, []time.Duration{150 * time.Minute, 90 * time.Minute, 30 * time.Minute}, 30 * time.Minute},
		"70 ignorable, three hours ago":       {"30 * * * *", 3 * time.Hour, noon, Skip, nil, 30 * time.Minute},
		"71 ignorable, 123 ms late":           {"30 * * * *", time.Hour, noon.Add(30*time.Minute + 123*time.Millisecond), Skip, []time.Duration{123 * time.Millisecond}, time.Hour - 123*time.Millisecond},
		"72 relaxed, due now":                 {"0 * * * *", time.Hour, noon, RunOnce, []time.Duration{0}, time.Hour},
		"72 strict, due now":                  {"0 * * * *", time.Hour, noon, RunAll, []time.Duration{0}, time.Hour},
		"72 ignorable, due now":               {"0 * * * *", time.Hour, noon, Skip, []time.Duration{0}, time.Hour},
		"skip at the grace":                   {"0 * * * *", time.Hour, noon.Add(Grace), Skip, []time.Duration{Grace}, time.Hour - Grace},
		"skip after the grace":                {"0 * * * *", time.Hour, noon.Add(Grace + time.Millisecond), Skip, nil, time.Hour - Grace - time.Millisecond},
		"skip runs only the latest in grace":  {"*/10 * * * * *", time.Minute, noon.Add(time.Second), Skip, []time.Duration{time.Second}, 9 * time.Second},
		"not due yet":                         {"0 * * * *", time.Minute, noon.Add(time.Minute), RunAll, nil, 59 * time.Minute},
		"CRN-08 one fire inside the window":   {"0 12 * * *", 5 * time.Second, noon.Add(3 * time.Second), RunOnce, []time.Duration{3 * time.Second}, day - 3*time.Second},
		"a hiccup loses nothing":              {"* * * * * *", 3 * time.Second, noon, RunOnce, []time.Duration{2 * time.Second, time.Second, 0}, time.Second},
		"a hiccup loses nothing under skip":   {"* * * * * *", 3 * time.Second, noon, Skip, []time.Duration{2 * time.Second, time.Second, 0}, time.Second},
		"an outage of ten seconds is one job": {"* * * * * *", 10 * time.Second, noon, RunOnce, []time.Duration{0}, time.Second},
		"a clock that went back":              {"* * * * * *", -time.Hour, noon, RunAll, nil, time.Second},
	} {
		s := must(t, c.spec, "")
		got := Missed(s, c.now.Add(-c.ago), c.now, c.mode, 0)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v before %v", name, got, c.want, c.now)
			continue
		}
		for i := range got {
			if c.now.Sub(got[i]) != c.want[i] {
				t.Errorf("%s: fire %d is %v, want %v before %v", name, i, got[i], c.want[i], c.now)
			}
		}
		if next := s.Next(c.now); next.Sub(c.now) != c.next {
			t.Errorf("%s: next is %v, want %v after %v", name, next, c.next, c.now)
		}
	}
}

// Rows 80 and 81: the next fire is counted from now, whatever was overdue.
func TestConformanceNextFromNow(t *testing.T) {
	t.Parallel()
	wantFires(t, must(t, "30 13 * * *", ""), "2026-05-05T15:30:00Z", "2026-05-06T13:30:00Z")
	wantFires(t, must(t, "* * * * *", ""), "2026-05-05T15:30:00Z", "2026-05-05T15:31:00Z")
}

func TestMissedIsBounded(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-05-05T12:00:00.25Z")
	for _, spec := range []string{"* * * * * *", "@every 1s"} {
		s := must(t, spec, "Europe/London")
		for limit, want := range map[int]int{0: MaxMissed, -1: MaxMissed, MaxMissed + 1: MaxMissed, 3: 3} {
			began := time.Now()
			fires := Missed(s, now.AddDate(-20, 0, 0), now, RunAll, limit)
			if len(fires) != want || time.Since(began) > 2*time.Second {
				t.Fatalf("%s, limit %d: %d fires in %v", spec, limit, len(fires), time.Since(began))
			}
			for i, fire := range fires {
				if want := now.Add(-250*time.Millisecond - time.Duration(len(fires)-1-i)*time.Second); !fire.Equal(want) {
					t.Fatalf("%s: fire %d is %v, want %v", spec, i, fire, want)
				}
			}
		}
		if fires := Missed(s, time.Time{}, now, RunOnce, 0); len(fires) != 1 || now.Sub(fires[0]) != 250*time.Millisecond {
			t.Error(fires)
		}
	}
	// Exactly the limit is not too many.
	s := must(t, "0 * * * *", "")
	if fires := Missed(s, now.Add(-3*time.Hour), now, RunAll, 3); len(fires) != 3 || !fires[0].Equal(s.Next(now.Add(-3*time.Hour))) {
		t.Error(fires)
	}
	if fires := Missed(s, now.Add(-4*time.Hour), now, RunAll, 3); len(fires) != 3 || fires[0].Equal(s.Next(now.Add(-4*time.Hour))) {
		t.Error(fires)
	}
}

func TestMissedRespectsTheEnd(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-05-05T12:00:00Z")
	s, err := must(t, "0 * * * *", "").Within(Bounds{End: now.Add(-90 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	if fires := Missed(s, now.Add(-24*time.Hour), now, RunOnce, 0); len(fires) != 1 || now.Sub(fires[0]) != 2*time.Hour {
		t.Error(fires)
	}
	if fires := Missed(s, now.Add(-2*time.Hour), now, RunAll, 0); fires != nil {
		t.Error(fires)
	}
}

func TestMisfireNames(t *testing.T) {
	t.Parallel()
	for _, m := range []Misfire{RunOnce, RunAll, Skip} {
		if got, err := ParseMisfire(m.String()); got != m || err != nil {
			t.Error(m, got, err)
		}
	}
	if m, err := ParseMisfire(""); m != RunOnce || err != nil {
		t.Error(m, err)
	}
	_, err := ParseMisfire("Relaxed")
	wantRefused(t, err, "misfire", "none of run_once")
	if Misfire(7).String() != "unknown" {
		t.Error(Misfire(7))
	}
}
