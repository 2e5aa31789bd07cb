package schedule

import "time"

// Bounds limits a schedule in time. The zero value of each side means no limit.
// A fire exactly at Start or at End counts.
//
// For an interval, Start is also where counting begins: fire k is at
// Start + k·d, the first (k = 0) at Start itself. Without a Start it counts from
// 1970-01-01T00:00:00Z, so that every server counts alike.
type Bounds struct {
	Start, End time.Time
}

// Within gives the schedule limited to b, in place of any limits it had. Start
// and End are cut to whole microseconds, as Postgres keeps them.
//
// An error is an *Error whose Field is "start" or "end": a time outside the
// years 1 to 9999, an End before Start, or two limits between which the
// schedule never fires.
func (s Schedule) Within(b Bounds) (Schedule, error) {
	for _, side := range []struct {
		field string
		t     *time.Time
	}{{"start", &b.Start}, {"end", &b.End}} {
		if side.t.IsZero() {
			*side.t = time.Time{} // a zero time in another zone means the same
			continue
		}
		*side.t = side.t.UTC().Truncate(time.Microsecond)
		if side.t.Before(firstInstant) || side.t.After(lastInstant) {
			return Schedule{}, refuse(side.field, "is outside the years 1 to 9999")
		}
	}
	if !b.Start.IsZero() && !b.End.IsZero() && b.End.Before(b.Start) {
		return Schedule{}, refuse("end", "%s is before the start %s", s.stamp(b.End), s.stamp(b.Start))
	}
	s.bounds = b
	if !b.End.IsZero() && s.Next(time.Time{}).IsZero() {
		return Schedule{}, refuse("end", "the schedule never fires up to %s", s.stamp(b.End))
	}
	return s, nil
}

// Bounds gives the limits, zero where there is none.
func (s Schedule) Bounds() Bounds { return s.bounds }

// stamp writes a limit for people, as the clock of the schedule's zone shows it.
func (s Schedule) stamp(t time.Time) string { return stamp(t.In(s.Location())) }

// stamp writes a time for people, with a fraction only if there is one.
func stamp(t time.Time) string {
	if t.Location() == time.UTC {
		return t.Format("2006-01-02 15:04:05.999999 UTC")
	}
	return t.Format("2006-01-02 15:04:05.999999 -07:00")
}
