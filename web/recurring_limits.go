package web

import (
	"strings"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

// The start and the end of a recurring job are typed and shown in its own time zone,
// as the times in its expression are: who types 2026-12-01 09:00 beside
// Europe/Istanbul means nine o'clock there.

// walls are the forms in which a time of the schedule's zone may be typed; instants
// are those that name their offset themselves.
var (
	walls    = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}
	instants = []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04 -07:00"}
)

func typedInstant(in *locale.Locale, f *views.RecurringFormProps, name, text string, at *time.Location) time.Time {
	text = strings.TrimSpace(text)
	if text == "" || f.Errors[name] != "" {
		return time.Time{}
	}
	// The zero time would mean "no limit".
	if t, ok := readInstant(text, at); ok && !t.IsZero() {
		return t
	}
	f.Errors[name] = in.Say("%s is no time such as 2026-12-31 18:00", shorten(text))
	return time.Time{}
}

func readInstant(text string, at *time.Location) (time.Time, bool) {
	text, utc := strings.CutSuffix(text, "UTC")
	if utc {
		text, at = strings.TrimSpace(text), time.UTC
	}
	for _, layout := range walls {
		if wall, err := time.Parse(layout, text); err == nil {
			return schedule.Instant(wall, at), true
		}
	}
	for _, layout := range instants {
		if t, err := time.Parse(layout, text); err == nil && !utc {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// writeInstant keeps every digit, so that a form that is saved as it came changes
// nothing. It names the offset only where the clock of the zone says less: after it
// went back, and where the zone is not known.
func writeInstant(t *time.Time, zone string) string {
	if t == nil {
		return ""
	}
	if at, known := zoneOf(zone); known {
		for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02 15:04:05.999999 -07:00"} {
			text := t.In(at).Format(layout)
			if back, ok := readInstant(text, at); ok && back.Equal(*t) {
				return text
			}
		}
	}
	return t.UTC().Format("2006-01-02 15:04:05.999999 UTC")
}

// zoneOf is the place of a zone; UTC stands in for one that is not known, or not any
// more.
func zoneOf(zone string) (at *time.Location, known bool) {
	s, err := schedule.Parse("@hourly", zone)
	if err != nil {
		return time.UTC, false
	}
	return s.Location(), true
}
