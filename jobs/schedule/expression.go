package schedule

import (
	"math/bits"
	"time"
)

// expression is a parsed cron expression: a set of wall-clock times.
type expression struct {
	second, minute, hour set
	day, month, weekday  set
	lastDay              bool // L in the day of month
	repeats              bool // interval-like: fires in both passes of a repeated hour
	everyHour            bool // all 24 hours: nothing to make up for after a gap
}

// set is the values that a field allows.
type set struct {
	bits uint64 // bit v for value v
	any  bool   // written as * or ?: not a restriction
	step bool   // written with a step
}

func (s set) has(v int) bool { return s.bits>>v&1 == 1 }
func (s set) count() int     { return bits.OnesCount64(s.bits) }
func (s set) first() int     { return bits.TrailingZeros64(s.bits) }

// from gives the first value of at least v, and false if there is none.
func (s set) from(v int) (int, bool) {
	rest := s.bits >> v << v
	return bits.TrailingZeros64(rest), rest != 0
}

func (s set) values() []int {
	var vs []int
	for b := s.bits; b != 0; b &= b - 1 {
		vs = append(vs, bits.TrailingZeros64(b))
	}
	return vs
}

const daySeconds = 24 * 3600

// nextWall gives the first wall-clock time of at least w, and false if none
// comes within nine years. The longest wait of any expression is the eight years
// between 29 February 2096 and 2104.
func (e *expression) nextWall(w int64) (int64, bool) {
	w = max(w, firstInstant.Unix()-daySeconds)
	second := (w%daySeconds + daySeconds) % daySeconds
	midnight := w - second
	year, month, day := time.Unix(midnight, 0).UTC().Date()
	if e.daysOf(year, month)>>day&1 == 1 {
		if s, ok := e.nextTime(int(second)); ok {
			return midnight + int64(s), true
		}
	}
	day++
	for range 9*12 + 1 {
		if later := e.daysOf(year, month) >> day << day; later != 0 {
			s, _ := e.nextTime(0)
			date := time.Date(year, month, bits.TrailingZeros32(later), 0, 0, 0, 0, time.UTC)
			return date.Unix() + int64(s), true
		}
		day = 1
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return 0, false
}

// nextTime gives the first time of day at or after the given one, in seconds
// after midnight, and false if the rest of the day has none.
func (e *expression) nextTime(from int) (int, bool) {
	hour, minute, second := from/3600, from/60%60, from%60
	if e.hour.has(hour) {
		if e.minute.has(minute) {
			if s, ok := e.second.from(second); ok {
				return hour*3600 + minute*60 + s, true
			}
		}
		if m, ok := e.minute.from(minute + 1); ok {
			return hour*3600 + m*60 + e.second.first(), true
		}
	}
	h, ok := e.hour.from(hour + 1)
	return h*3600 + e.minute.first()*60 + e.second.first(), ok
}

// daysOf gives the days of one month on which the expression fires, bit d for
// day d.
func (e *expression) daysOf(year int, month time.Month) uint32 {
	if !e.month.has(int(month)) {
		return 0
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	length := first.AddDate(0, 1, -1).Day()
	all := uint32(1)<<(length+1) - 2
	if e.day.any && e.weekday.any {
		return all
	}
	var byDay, byWeekday uint32
	if !e.day.any {
		byDay = uint32(e.day.bits)
		if e.lastDay {
			byDay |= 1 << length
		}
	}
	if !e.weekday.any {
		for d, w := 1, int(first.Weekday()); d <= length; d, w = d+1, (w+1)%7 {
			byWeekday |= uint32(e.weekday.bits>>w&1) << d
		}
	}
	return (byDay | byWeekday) & all
}
