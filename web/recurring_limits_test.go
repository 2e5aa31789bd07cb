package web

import (
	"testing"
	"time"
)

// A form that is saved as it came does not move a limit, whatever the clocks of its
// zone do there: every half hour of the days around each change, and odd instants.
func TestLimitsSurviveTheForm(t *testing.T) {
	t.Parallel()
	var instants []time.Time
	for _, day := range []string{"2026-03-08", "2026-03-29", "2026-04-05", "2026-04-24", "2026-10-04", "2026-10-25", "2026-10-30", "2026-11-01", "2011-12-30", "1910-10-01"} {
		from, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		for i := -48; i < 96; i++ {
			instants = append(instants, from.Add(time.Duration(i)*30*time.Minute), from.Add(time.Duration(i)*30*time.Minute-time.Microsecond))
		}
	}
	instants = append(instants, time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC))
	for _, zone := range []string{"", "UTC", "Europe/Istanbul", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "Pacific/Kiritimati", "Asia/Kathmandu", "Etc/GMT+12", "Europe/Atlantis"} {
		at, known := zoneOf(zone)
		if known == (zone == "Europe/Atlantis") {
			t.Errorf("zone %s known: %v", zone, known)
		}
		for _, want := range instants {
			text := writeInstant(&want, zone)
			if got, ok := readInstant(text, at); !ok || !got.Equal(want) {
				t.Errorf("%s in %s: written %q, read as %v, %v", want, zone, text, got, ok)
			}
			// Who then corrects a zone that is not known does not move it either.
			if got, ok := readInstant(text, time.FixedZone("", 3600)); !known && (!ok || !got.Equal(want)) {
				t.Errorf("%q moves with the zone: %v", text, got)
			}
		}
	}
	if got := writeInstant(nil, "UTC"); got != "" {
		t.Errorf("no limit is %q", got)
	}
}

func TestWritesAndReadsLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, typed, want, again string }{
		{"Europe/Istanbul", "2026-12-01 09:00", "2026-12-01T06:00:00Z", "2026-12-01 09:00:00"},
		{"Europe/Istanbul", "2026-12-01T09:00:00.25", "2026-12-01T06:00:00.25Z", "2026-12-01 09:00:00.25"},
		{"Europe/Istanbul", "2026-12-01", "2026-11-30T21:00:00Z", "2026-12-01 00:00:00"},
		{"Europe/Istanbul", "2026-12-01 09:00 UTC", "2026-12-01T09:00:00Z", "2026-12-01 12:00:00"},
		{"Europe/Istanbul", "2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z", "2026-12-01 12:00:00"},
		{"Europe/Istanbul", "2026-12-01 09:00 -05:00", "2026-12-01T14:00:00Z", "2026-12-01 17:00:00"},
		{"Europe/Istanbul", "2026-12-01 09:00:00.5 -05:00", "2026-12-01T14:00:00.5Z", "2026-12-01 17:00:00.5"},
		{"", "2026-12-01 09:00", "2026-12-01T09:00:00Z", "2026-12-01 09:00:00"},
		{"Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30:00Z", "2026-10-25 02:30:00"},
		{"Europe/Berlin", "2026-10-25 02:30 +01:00", "2026-10-25T01:30:00Z", "2026-10-25 02:30:00 +01:00"},
		{"Europe/Berlin", "2026-03-29 02:30", "2026-03-29T01:00:00Z", "2026-03-29 03:00:00"}, // skipped
		{"Europe/Berlin", "tomorrow", "", ""}, {"Europe/Berlin", "2026-02-30", "", ""}, {"Europe/Berlin", "2026-12-01T09:00:00Z UTC", "", ""}, {"Europe/Berlin", "UTC", "", ""},
	} {
		at, _ := zoneOf(c.zone)
		got, ok := readInstant(c.typed, at)
		if c.want == "" {
			if ok {
				t.Errorf("%q is read as %v", c.typed, got)
			}
			continue
		}
		if got.Format(time.RFC3339Nano) != c.want || writeInstant(&got, c.zone) != c.again {
			t.Errorf("%q in %s: %s, then %q; want %s, then %q", c.typed, c.zone, got.Format(time.RFC3339Nano), writeInstant(&got, c.zone), c.want, c.again)
		}
	}
}
