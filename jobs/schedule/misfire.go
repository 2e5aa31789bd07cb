package schedule

import (
	"slices"
	"time"
)

// Misfire says what becomes of fires that nobody handled in time: because no
// server ran, the recurring job was paused, or the database was not there.
type Misfire int

const (
	// RunOnce, the default, makes one job for all missed fires, with the latest
	// of them as its fire time. Hangfire calls it Relaxed.
	RunOnce Misfire = iota
	// RunAll makes a job for each missed fire, up to a limit. Hangfire calls it
	// Strict.
	RunAll
	// Skip makes none, except for the latest fire if it is at most Grace late.
	// Hangfire calls it Ignorable.
	Skip
)

const (
	// Jitter is how late a fire may be noticed without counting as missed: a
	// busy server, a slow poll, the death of the process that was about to fire.
	// While the oldest due fire is no later than this, every rule gives every
	// due fire, so that a schedule of every second loses none to a hiccup.
	Jitter = 5 * time.Second
	// Grace is how late the latest fire may be and still run under Skip.
	Grace = 30 * time.Second
	// MaxMissed is the most fires that RunAll gives at once, and its default: a
	// schedule of every second that was away for a year has 31 million.
	MaxMissed = 1_000
)

var misfireNames = [...]string{RunOnce: "run_once", RunAll: "run_all", Skip: "skip"}

// String gives the name that is stored: "run_once", "run_all" or "skip".
func (m Misfire) String() string {
	if m < 0 || int(m) >= len(misfireNames) {
		return "unknown"
	}
	return misfireNames[m]
}

// ParseMisfire reads what String writes; "" is RunOnce. An error is an *Error
// whose Field is "misfire".
func ParseMisfire(name string) (Misfire, error) {
	if name == "" {
		return RunOnce, nil
	}
	if i := slices.Index(misfireNames[:], name); i >= 0 {
		return Misfire(i), nil
	}
	return 0, refuse("misfire", "%s is none of run_once, run_all and skip", quote(name))
}

// Missed gives the fires to make jobs for at now, oldest first: those later
// than last, the latest fire that was dealt with, and not later than now. With a
// stored next fire in hand, last is one microsecond before it. The next fire to
// store is s.Next(now), whatever Missed gives.
//
// limit bounds RunAll: the newest limit fires are given, and the older ones are
// lost, which shows in the first one given not being s.Next(last). 0 and
// anything above MaxMissed mean MaxMissed. The other rules need no limit; at
// most Jitter divided by MinInterval, plus one, fires come at once.
func Missed(s Schedule, last, now time.Time, mode Misfire, limit int) []time.Time {
	oldest := s.Next(last)
	if oldest.IsZero() || oldest.After(now) {
		return nil
	}
	if limit <= 0 || limit > MaxMissed {
		limit = MaxMissed
	}
	if mode == RunAll {
		return s.newest(oldest, now, limit)
	}
	if now.Sub(oldest) <= Jitter {
		return s.newest(oldest, now, MaxMissed)
	}
	latest := s.latest(oldest, now)
	if mode == Skip && now.Sub(latest) > Grace {
		return nil
	}
	return []time.Time{latest}
}

// newest gives the last n of the fires from oldest, itself a fire, to now.
func (s Schedule) newest(oldest, now time.Time, n int) []time.Time {
	fires := []time.Time{oldest}
	for len(fires) <= n {
		next := s.Next(fires[len(fires)-1])
		if next.IsZero() || next.After(now) {
			return fires
		}
		fires = append(fires, next)
	}
	fires = fires[:0]
	for at := now; len(fires) < n; {
		fire := s.latest(oldest, at)
		fires = append(fires, fire)
		at = fire.Add(-time.Microsecond)
	}
	slices.Reverse(fires)
	return fires
}

// latest gives the last fire not later than now, where oldest is a fire that is
// not later either. It halves the time between them, for about 50 steps however
// many fires there are: the fire after x is due exactly if x is before the
// latest one.
func (s Schedule) latest(oldest, now time.Time) time.Time {
	fire := oldest
	low, high := oldest.UnixMicro(), now.UnixMicro()
	for low < high {
		middle := low + (high-low+1)/2
		next := s.Next(time.UnixMicro(middle - 1))
		if next.IsZero() || next.After(now) {
			high = middle - 1
			continue
		}
		fire = next
		low = next.UnixMicro()
		if low < middle {
			return fire // only a broken Next; never loop for it
		}
	}
	return fire
}
