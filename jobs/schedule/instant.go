package schedule

import "time"

// Instant gives the first instant at which a clock in loc shows the date and time
// that wall shows, or a later one. It is the rule by which fixed times fire: a time
// that a clock change skips is the moment of the change, and one that comes twice
// is the first of the two.
func Instant(wall time.Time, loc *time.Location) time.Time {
	year, month, day := wall.Date()
	wall = time.Date(year, month, day, wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
	w := wall.Unix()
	for from := w - 2*daySeconds; ; { // no clock is further ahead of UTC than that
		s := spanAt(loc, from)
		if from+s.offset > w {
			return time.Unix(from, 0).UTC()
		}
		if w-s.offset < s.end {
			return time.Unix(w-s.offset, int64(wall.Nanosecond())).UTC()
		}
		from = s.end
	}
}
