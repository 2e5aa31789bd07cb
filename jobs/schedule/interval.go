package schedule

import (
	"time"
)

const (
	// MinInterval is the shortest interval: 1 second.
	MinInterval = time.Second
	// MaxInterval is the longest interval: 366 days.
	MaxInterval = 366 * 24 * time.Hour
)

// Interval fires every d of real time, without drift: fire k is at start + k·d,
// whatever time the fires before it took (see Bounds for start). d is from
// MinInterval to MaxInterval in whole milliseconds; an error is an *Error whose
// Field is "interval".
func Interval(d time.Duration) (Schedule, error) {
	if err := checkInterval("interval", "", d); err != nil {
		return Schedule{}, err
	}
	return Schedule{spec: "@every " + d.String(), loc: time.UTC, every: d}, nil
}

func parseEvery(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, refuse("cron", "@every %s: not a duration such as 90s, 15m or 36h", quote(text))
	}
	return d, checkInterval("cron", "@every ", d)
}

func checkInterval(field, prefix string, d time.Duration) error {
	if d < MinInterval || d > MaxInterval {
		return refuse(field, "%s%v is outside %v to %v (366 days)", prefix, d, MinInterval, MaxInterval)
	}
	if d%time.Millisecond != 0 {
		return refuse(field, "%s%v is not a whole number of milliseconds", prefix, d)
	}
	return nil
}

// nextInterval counts in microseconds: a Duration cannot hold the time from 1970
// to the year 9999.
func nextInterval(t, start time.Time, every time.Duration) time.Time {
	var anchor int64
	if !start.IsZero() {
		anchor = start.UnixMicro()
		if t.Before(start) {
			return start
		}
	}
	d := every.Microseconds()
	passed := t.UnixMicro() - anchor
	k := passed / d
	if passed%d < 0 {
		k-- // division rounds towards zero, and fires before 1970 count downwards
	}
	return time.UnixMicro(anchor + (k+1)*d).UTC()
}
