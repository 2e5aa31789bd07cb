package schedule

import "time"

// nextInstant gives the first fire at or after the instant from, both in Unix
// seconds. It goes from clock change to clock change, and within one stretch of
// constant offset searches the wall clock by whole days and months, so its cost
// does not depend on how far away the fire is in minutes.
func (e *expression) nextInstant(loc *time.Location, from int64) (int64, bool) {
	for from <= lastInstant.Unix() {
		s := spanAt(loc, from)
		earliest := from + s.offset
		if !e.repeats || !e.everyHour {
			seen := shownBefore(loc, s)
			first := s.start + s.offset
			if from == s.start && seen < first {
				// The wall clock jumps to first. What it skipped is due now.
				if w, ok := e.nextWall(seen); ok && w < first {
					return from, true
				}
			}
			if !e.repeats {
				earliest = max(earliest, seen)
			}
		}
		w, ok := e.nextWall(earliest)
		if !ok {
			return 0, false
		}
		if u := w - s.offset; u < s.end {
			return u, true
		}
		from = s.end
	}
	return 0, false
}
