package schedule

import (
	"math"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // container images often have no zone files
)

// zoneName is the form of names in the IANA database. Anything else might reach
// a file outside it: LoadLocation joins the name to a directory.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z0-9_+-]{1,31}){0,2}$`)

func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if name == "Local" {
		return nil, refuse("zone", "Local differs between servers: give a name such as Europe/Istanbul, or UTC")
	}
	folder, _, _ := strings.Cut(name, "/")
	// These files lie in some systems' zone folders: "right" counts leap
	// seconds, the others are links that differ between machines.
	switch folder {
	case "right", "posix", "posixrules", "localtime":
		return nil, unknownZone(name)
	}
	if !zoneName.MatchString(name) {
		return nil, unknownZone(name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknownZone(name)
	}
	return loc, nil
}

func unknownZone(name string) error {
	return refuse("zone", "%s is not in the time zone database: names look like Europe/Istanbul, with capitals", quote(name))
}

// span is a stretch of real time with one offset from UTC. Instants are Unix
// seconds; a wall-clock time is the number of seconds since 1970-01-01T00:00:00
// as that clock shows it, so wall = instant + offset.
type span struct {
	start, end int64 // [start, end); the extremes of int64 where it has no limit
	offset     int64
}

// spanAt gives the span around u. It may be shorter than the true one, with a
// neighbour of the same offset.
func spanAt(loc *time.Location, u int64) span {
	t := time.Unix(u, 0).In(loc)
	_, offset := t.Zone()
	s := span{start: math.MinInt64, end: math.MaxInt64, offset: int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		s.start = min(start.Unix(), u)
	}
	if !end.IsZero() {
		s.end = end.Unix()
	}
	// ZoneBounds takes every year for 365 days where it applies a zone's rule
	// for the future, so on 31 December of a leap year it gives an end that has
	// passed. No zone changes its clock on that day.
	if s.end <= u {
		s.end = u + 3600
	}
	return s
}

// shownBefore gives the end of the wall-clock times that were shown before s
// began: the first one that nobody has seen yet. After the clock goes back it
// lies ahead of s, after a skip behind it.
func shownBefore(loc *time.Location, s span) int64 {
	if s.start == math.MinInt64 {
		return math.MinInt64
	}
	// One look back is enough: nowhere in the database does a clock change
	// again before it has made up for the last time it went back.
	return s.start + spanAt(loc, s.start-1).offset
}
