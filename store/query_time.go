package store

import (
	"regexp"
	"strconv"
	"time"
)

// Times of a query, in UTC: the length of the text says how much time it means.
var timeForms = []struct {
	layout string
	means  time.Duration
}{
	{"2006-01-02", 24 * time.Hour},
	{"2006-01-02T15:04", time.Minute},
	{"2006-01-02T15:04:05", time.Second},
	{time.RFC3339, time.Second},
	{time.RFC3339Nano, time.Microsecond},
}

var (
	ageForm  = regexp.MustCompile(`^([0-9]{1,6})(s|m|h|d)$`)
	ageUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
)

// readTime understands a day, a time or an age. An age stands for the moment that
// long ago: created>2h are the jobs of the last two hours. More than includes the
// named instant itself, so that a list cut at a time shown holds the row shown.
func (t *term) readTime() error {
	if m := ageForm.FindStringSubmatch(t.text); m != nil {
		n, _ := strconv.Atoi(m[1])
		if t.value.age = time.Duration(n) * ageUnits[m[2]]; t.op == equal || t.value.age > 3650*24*time.Hour {
			return badQuery("needs %s with > or < before an age of at most 3650d, such as %[1]s>2h", t.field.name)
		}
		return nil
	}
	for _, f := range timeForms {
		at, err := time.Parse(f.layout, t.text)
		if err != nil {
			continue
		}
		if at.Year() < 1 || at.Year() > 9998 {
			break
		}
		switch t.op {
		case greater:
			t.value.from = at.UTC()
		case less:
			t.value.to = at.UTC()
		default:
			t.value.from, t.value.to = at.UTC(), at.UTC().Add(f.means)
		}
		return nil
	}
	return badQuery("has no time after %s: %q. Write 2026-11-29, 2026-11-29T10:00 (UTC), 2026-11-29T10:00:00+03:00 or an age such as 30m, 2h, 7d", t.field.name, shortened(t.text))
}
