// Package schedule answers when a recurring job fires: the next time after a
// given one, the times missed while no server ran, and whether a retry still
// fits before the next fire. It reads no clock and no database; every function
// takes the time it needs as an argument and gives the same answer on every
// server.
//
// # Expressions
//
// A cron expression has 5 fields (minute, hour, day of month, month, day of
// week), or 6 with seconds first. A field is *, a value, a range a-b, a step
// */n, a/n or a-b/n, or a list of these with commas. Months and days have
// English names of three letters in any case (jan, MON); 0 and 7 are both
// Sunday. The day fields also take ?, which means the same as *, and the day of
// month takes L, its last day. The macros are @yearly, @annually, @monthly,
// @weekly, @daily, @midnight, @hourly, and "@every 90s" for an interval.
//
// If both day fields are restricted, either one is enough, as in Vixie cron:
// "0 0 13 * 5" fires on every 13th and on every Friday. Words says so. A step
// such as */2 is a restriction here.
//
// # Daylight saving
//
// A fixed time fires at the first instant at which the wall clock shows that
// time or a later one. So a time that a clock change skips fires right after the
// change, and a time that comes twice fires the first time only.
//
// An expression is interval-like if its second, minute or hour field has a * or
// a step (Cronos' rule, without plain ranges), or if its hour field allows all 24
// hours. It fires whenever the wall clock matches, so during an hour that comes
// twice it goes on firing. A skipped hour is no real time, so an expression that
// allows every hour has nothing to make up for after it; one that allows only
// some hours, such as */2, fires once right after the change, so that a day
// whose only hour is skipped is not lost.
package schedule

import (
	"strings"
	"time"
)

// MaxUpcoming is the most times that Upcoming gives.
const MaxUpcoming = 1_000

// Fires exist in the years 1 to 9999, as run times do everywhere in Tekrar.
var (
	firstInstant = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastInstant  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// Schedule is a set of fire times. It is immutable and safe for concurrent use.
// The zero value never fires; Parse and Interval make others.
type Schedule struct {
	spec   string
	loc    *time.Location
	cron   *expression   // nil for an interval
	every  time.Duration // 0 for a cron expression
	bounds Bounds
}

// Parse reads a cron expression, a macro or "@every d" (see Interval) in a time
// zone of the IANA database, such as "Europe/Istanbul"; "" means UTC. It works
// where the system has no zone files.
//
// An error is an *Error whose Field is "cron" or "zone". Refused are
// expressions of more than MaxSpec bytes or other than ASCII characters, values
// and steps outside a field's limits, ranges that run backwards, dates that
// never come (30 February), and zone names that are unknown, "Local" or a path.
func Parse(spec, zone string) (Schedule, error) {
	loc, err := loadZone(zone)
	if err != nil {
		return Schedule{}, err
	}
	if len(spec) > MaxSpec {
		return Schedule{}, refuse("cron", "has %d bytes: at most %d", len(spec), MaxSpec)
	}
	if err := checkASCII(spec); err != nil {
		return Schedule{}, err
	}
	spec = strings.Join(strings.Fields(spec), " ")
	if name, arg, _ := strings.Cut(spec, " "); strings.EqualFold(name, "@every") {
		d, err := parseEvery(arg)
		if err != nil {
			return Schedule{}, err
		}
		return Schedule{spec: "@every " + d.String(), loc: loc, every: d}, nil
	}
	e, err := parseExpression(spec)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{spec: spec, loc: loc, cron: e}, nil
}

// Spec gives the text that Parse reads as this schedule, bounds and zone apart.
func (s Schedule) Spec() string { return s.spec }

// Zone gives the name of the time zone, "UTC" if none was given.
func (s Schedule) Zone() string { return s.Location().String() }

// Location is the time zone, for showing a fire in local time.
func (s Schedule) Location() *time.Location {
	if s.loc == nil {
		return time.UTC
	}
	return s.loc
}

// Every is the interval, or 0 if the schedule is a cron expression.
func (s Schedule) Every() time.Duration { return s.every }

// Next gives the first fire strictly later than t, in UTC; the zero time if
// there is none up to the end of the bounds or of the year 9999. Fires of a cron
// expression are whole seconds; those of an interval are whole microseconds, as
// Postgres keeps them, so that a fire survives the round trip.
func (s Schedule) Next(t time.Time) time.Time {
	if t.Before(firstInstant) {
		t = firstInstant
	}
	if start := s.bounds.Start; !start.IsZero() && t.Before(start) {
		t = start.Add(-time.Nanosecond)
	}
	if t.After(lastInstant) {
		return time.Time{}
	}
	var next time.Time
	switch {
	case s.cron != nil:
		if u, ok := s.cron.nextInstant(s.loc, t.Unix()+1); ok {
			next = time.Unix(u, 0).UTC()
		}
	case s.every > 0:
		next = nextInterval(t, s.bounds.Start, s.every)
	}
	if next.After(lastInstant) || (!s.bounds.End.IsZero() && next.After(s.bounds.End)) {
		return time.Time{}
	}
	return next
}

// Upcoming gives the n fires after t, fewer if the schedule ends before, and at
// most MaxUpcoming.
func (s Schedule) Upcoming(t time.Time, n int) []time.Time {
	var fires []time.Time
	for range min(n, MaxUpcoming) {
		if t = s.Next(t); t.IsZero() {
			break
		}
		fires = append(fires, t)
	}
	return fires
}
