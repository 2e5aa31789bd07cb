package schedule

import (
	"testing"
	"time"
)

func TestInstant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, wall, want string }{
		{"UTC", "2026-12-01T09:00:00.000001Z", "2026-12-01T09:00:00.000001Z"},
		{"Europe/Istanbul", "2026-12-01T09:00:00Z", "2026-12-01T06:00:00Z"},
		{"Europe/Berlin", "2026-03-29T01:59:59.5Z", "2026-03-29T00:59:59.5Z"},
		{"Europe/Berlin", "2026-03-29T02:00:00Z", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-03-29T02:30:00.5Z", "2026-03-29T01:00:00Z"}, // skipped
		{"Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25T02:00:00Z", "2026-10-25T00:00:00Z"}, // twice
		{"Europe/Berlin", "2026-10-25T02:59:59Z", "2026-10-25T00:59:59Z"},
		{"Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z"},
		{"Africa/Cairo", "2026-04-24T00:00:00Z", "2026-04-23T22:00:00Z"},       // a day without its midnight
		{"Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"},       // a day that never was
		{"Pacific/Kiritimati", "2026-01-01T00:00:00Z", "2025-12-31T10:00:00Z"}, // far ahead
		{"Europe/Istanbul", "0001-01-01T00:00:00Z", "0000-12-31T22:04:08Z"},
		{"America/New_York", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-05:00"},
	} {
		loc, err := loadZone(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		want := at(t, c.want)
		if got := Instant(at(t, c.wall), loc); !got.Equal(want) {
			t.Errorf("%s in %s: %v, want %v", c.wall, c.zone, got, want.UTC())
		}
	}
}

// A person and a schedule mean the same by a time of day.
func TestInstantIsWhenAFixedTimeFires(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Tehran"} {
		s := must(t, "30 2 * * *", zone)
		fire := at(t, "2019-12-31T00:00:00Z")
		for range 3000 {
			fire = s.Next(fire)
			year, month, day := fire.In(s.Location()).Date()
			if got := Instant(time.Date(year, month, day, 2, 30, 0, 0, time.UTC), s.Location()); !got.Equal(fire) {
				t.Fatalf("%s: %v, but it fires at %v", zone, got, fire)
			}
		}
	}
}
