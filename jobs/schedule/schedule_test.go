package schedule

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func must(t testing.TB, spec, zone string) Schedule {
	t.Helper()
	s, err := Parse(spec, zone)
	if err != nil {
		t.Fatalf("%q in %q: %v", spec, zone, err)
	}
	return s
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantFires gives the fires after a time; the last one may be "none".
func wantFires(t *testing.T, s Schedule, after string, want ...string) {
	t.Helper()
	now := at(t, after)
	for _, w := range want {
		next := s.Next(now)
		if w == "none" {
			if !next.IsZero() {
				t.Errorf("%s %s: next after %v is %v, want none", s.Spec(), s.Zone(), now, next)
			}
			return
		}
		if !next.Equal(at(t, w)) || next.Location() != time.UTC {
			t.Errorf("%s %s: next after %v is %v, want %s", s.Spec(), s.Zone(), now, next, w)
		}
		now = next
	}
}

// wantRefused wants an *Error of the field whose text holds the given words.
func wantRefused(t *testing.T, err error, field, words string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Field != field || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want field %s and %q", err, field, words)
	}
	if err != nil && len(err.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestCRN01_SkippedTimeFiresOnceAfterTheGap(t *testing.T) {
	t.Parallel()
	wantFires(t, must(t, "30 2 * * *", "America/New_York"), "2026-03-07T12:00:00Z",
		"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z", "2026-03-10T06:30:00Z")
	wantFires(t, must(t, "0,30 2 * * *", "America/New_York"), "2026-03-07T12:00:00Z",
		"2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z", "2026-03-09T06:30:00Z")
	wantFires(t, must(t, "30 2 * * *", "America/New_York"), "2026-03-08T06:59:59.999999999Z", "2026-03-08T07:00:00Z")
	wantFires(t, must(t, "30 2,3 * * *", "America/New_York"), "2026-03-08T06:00:00Z",
		"2026-03-08T07:00:00Z", "2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z")
}

func TestCRN02_RepeatedHour(t *testing.T) {
	t.Parallel()
	start, end := at(t, "2026-10-24T23:00:00Z"), at(t, "2026-10-26T00:00:00Z") // 25 October in London
	for spec, want := range map[string]struct {
		n   int
		gap time.Duration
	}{
		"* * * * *":    {1500, time.Minute},
		"*/30 * * * *": {50, 30 * time.Minute},
		"15 * * * *":   {25, time.Hour},
		"0 0-23 * * *": {25, time.Hour},
		"30 1 * * *":   {1, 0},
		"0,30 1 * * *": {2, 30 * time.Minute},
	} {
		s := must(t, spec, "Europe/London")
		n, last := 0, time.Time{}
		for fire := s.Next(start.Add(-time.Second)); fire.Before(end); fire = s.Next(fire) {
			if n++; !last.IsZero() && fire.Sub(last) != want.gap {
				t.Errorf("%s: %v after %v", spec, fire, last)
			}
			last = fire
		}
		if n != want.n {
			t.Errorf("%s: %d fires, want %d", spec, n, want.n)
		}
	}
	wantFires(t, must(t, "30 1 * * *", "Europe/London"), "2026-10-24T12:00:00Z",
		"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z")
	// Started between the two passes of 01:30, it has had its fire for the day.
	wantFires(t, must(t, "30 1 * * *", "Europe/London"), "2026-10-25T01:00:00Z", "2026-10-26T01:30:00Z")
	wantFires(t, must(t, "*/30 1 * * *", "Europe/London"), "2026-10-24T12:00:00Z",
		"2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:00:00Z")
}

// An hour field of * makes nothing up after a gap; a step in the hours does.
func TestIntervalLikeInTheGap(t *testing.T) {
	t.Parallel()
	wantFires(t, must(t, "15 * * * *", "America/New_York"), "2026-03-08T06:00:00Z", "2026-03-08T06:15:00Z", "2026-03-08T07:15:00Z")
	wantFires(t, must(t, "15 */2 * * *", "America/New_York"), "2026-03-08T05:00:00Z",
		"2026-03-08T05:15:00Z", "2026-03-08T07:00:00Z", "2026-03-08T08:15:00Z")
	wantFires(t, must(t, "*/20 2 * * *", "America/New_York"), "2026-03-08T05:00:00Z", "2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z")
	// Lord Howe changes by half an hour.
	wantFires(t, must(t, "15 2 * * *", "Australia/Lord_Howe"), "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z")
}

func TestMidnightGapsLoseNoDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, after, fire, next string }{
		{"America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"Asia/Beirut", "2026-03-28T12:00:00Z", "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"},
		{"Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		{"America/Havana", "2026-03-07T12:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		{"Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"}, // 30 December did not exist
	} {
		wantFires(t, must(t, "0 0 * * *", c.zone), c.after, c.fire, c.next)
		wantFires(t, must(t, "*/10 0 * * *", c.zone), c.after, c.fire)
	}
	wantFires(t, must(t, "0 12 30 12 *", "Pacific/Apia"), "2011-01-01T00:00:00Z", "2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z")
}

func TestCRN07_DayOfWeek(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "0 0 ? * sun", "@weekly", "0 0 0 * * sUn"} {
		wantFires(t, must(t, spec, ""), "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z")
	}
	wantFires(t, must(t, "0 0 * * fri-sun", ""), "2026-01-01T00:00:00Z",
		"2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-09T00:00:00Z")
	both := must(t, "0 0 13 * 5", "")
	wantFires(t, both, "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z")
	if words := both.Words(); words != "At 00:00 on day 13 of the month or on Friday, UTC" {
		t.Error(words)
	}
}

func TestCRN15_Zones(t *testing.T) {
	t.Parallel()
	istanbul := must(t, "0 9 * * *", "Europe/Istanbul")
	for _, month := range []string{"01", "04", "07", "10"} {
		wantFires(t, istanbul, "2026-"+month+"-10T00:00:00Z", "2026-"+month+"-10T06:00:00Z")
	}
	for _, zone := range []string{"", "UTC"} { // row 76: no zone means UTC
		if s := must(t, "0 9 * * *", zone); s.Zone() != "UTC" {
			t.Error(s.Zone())
		}
	}
	for _, zone := range []string{"Mars/Phobos", "../etc/passwd", "/etc/passwd", "Europe/../../etc/passwd", "Local", "local",
		"localtime", "right/UTC", "posix/UTC", "C:\\x", " ", "Europe/Istanbul ", "Europe", "tzdata.zi", "Europe\x00", "Türkiye",
		strings.Repeat("a", 10_000), "Turkey Standard Time"} {
		_, err := Parse("0 9 * * *", zone)
		wantRefused(t, err, "zone", "")
	}
}

// An image without zone files has to do with what is linked in.
func TestCRN15_ZonesAreEmbedded(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "\ntime/tzdata\n") {
		t.Error("time/tzdata is not linked")
	}
}

func TestNextEdges(t *testing.T) {
	t.Parallel()
	minutely := must(t, "* * * * *", "")
	wantFires(t, minutely, "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")
	wantFires(t, minutely, "2026-01-01T00:00:59.999999999Z", "2026-01-01T00:01:00Z")
	wantFires(t, minutely, "1905-01-01T00:00:00.5Z", "1905-01-01T00:01:00Z")
	wantFires(t, minutely, "9999-12-31T23:58:30Z", "9999-12-31T23:59:00Z", "none")
	wantFires(t, must(t, "0 0 29 2 *", ""), "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z")
	wantFires(t, must(t, "0 0 L * *", ""), "2028-01-31T00:00:00Z", "2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z")
	wantFires(t, must(t, "5-59/20 30 23 1,L * ?", ""), "2026-04-30T23:30:25Z", "2026-04-30T23:30:45Z", "2026-05-01T23:30:05Z")
	if next := (Schedule{}).Next(at(t, "2026-01-01T00:00:00Z")); !next.IsZero() {
		t.Error(next)
	}
	for _, s := range []Schedule{minutely, must(t, "0 9 * * *", "Europe/Istanbul"), must(t, "@every 1h", "")} {
		if next := s.Next(time.Time{}); next.IsZero() || next.Year() > 1 {
			t.Error(s.Spec(), next)
		}
		if n := len(s.Upcoming(time.Time{}, 5)); n != 5 {
			t.Error(n)
		}
		if n := len(s.Upcoming(time.Time{}, 1_000_000)); n != MaxUpcoming {
			t.Error(n)
		}
	}
}
