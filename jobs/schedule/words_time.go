package schedule

import (
	"fmt"
	"strings"
	"time"
)

// times also says whether the sentence needs a day: "at 12:00" does, "every 5
// minutes" does not.
func (w words) times(e *expression) (text string, needsDay bool) {
	if e.second.count() == 1 && !e.minute.any && !e.hour.any && e.minute.count()*e.hour.count() <= 6 {
		return w.say("at %s", w.join(e.clockTimes())), true
	}
	// often is that the part before is "every …", which another would blur.
	var parts []string
	often := false
	whole := e.second.count() == 1 && e.second.first() == 0
	if !whole {
		text, often = w.seconds(e.second)
		parts = append(parts, text)
	}
	if whole || e.minute.count() < 60 {
		text, often = w.minutes(e.minute, often, e.hour.count() == 24)
		parts = append(parts, text)
	}
	if e.hour.count() < 24 {
		parts = append(parts, w.hours(e.hour, often))
	}
	return strings.Join(parts, ", "), false
}

func (e *expression) clockTimes() []string {
	var times []string
	for _, h := range e.hour.values() {
		for _, m := range e.minute.values() {
			t := fmt.Sprintf("%02d:%02d", h, m)
			if s := e.second.first(); s != 0 {
				t += fmt.Sprintf(":%02d", s)
			}
			times = append(times, t)
		}
	}
	return times
}

func (w words) seconds(s set) (text string, often bool) {
	switch step := evenStep(s, 60); {
	case s.count() == 60:
		return w.say("every second"), true
	case step > 0:
		return w.say("every %d seconds", step), true
	case s.count() == 1:
		return w.say("at second %s", w.list(s, plain)), false
	}
	return w.say("at seconds %s", w.list(s, plain)), false
}

func (w words) minutes(s set, often, everyHour bool) (text string, again bool) {
	step, list := evenStep(s, 60), w.list(s, plain)
	switch {
	case s.count() == 60:
		return w.say("every minute"), true
	case step > 0 && !often:
		return w.say("every %d minutes", step), true
	case step == 2:
		return w.say("in every 2nd minute from 0"), false
	case step == 3:
		return w.say("in every 3rd minute from 0"), false
	case step > 0: // even steps divide 60 or 24: no 22nd
		return w.say("in every %dth minute from 0", step), false
	case everyHour && s.count() == 1:
		return w.say("at minute %s of every hour", list), false
	case everyHour:
		return w.say("at minutes %s of every hour", list), false
	case s.count() == 1:
		return w.say("at minute %s", list), false
	}
	return w.say("at minutes %s", list), false
}

func (w words) hours(s set, often bool) string {
	vs, step := s.values(), evenStep(s, 24)
	first, last := vs[0], vs[len(vs)-1]
	switch {
	case step > 0 && !often:
		return w.say("every %d hours", step)
	case step == 2:
		return w.say("in every 2nd hour from 00:00")
	case step == 3:
		return w.say("in every 3rd hour from 00:00")
	case step > 0:
		return w.say("in every %dth hour from 00:00", step)
	case len(vs) > 1 && last-first == len(vs)-1:
		return w.say("from %s to %s", fmt.Sprintf("%02d:00", first), fmt.Sprintf("%02d:59", last))
	case len(vs) == 1:
		return w.say("in hour %s", w.list(s, plain))
	}
	return w.say("in hours %s", w.list(s, plain))
}

// evenStep gives the step of values that start at 0 and divide size evenly, the
// only ones that come "every n" across its end; else 0.
func evenStep(s set, size int) int {
	if s.count() < 2 || size%s.count() != 0 {
		return 0
	}
	step := size / s.count()
	for i, v := range s.values() {
		if v != i*step {
			return 0
		}
	}
	return step
}

func (w words) interval(d time.Duration) string {
	switch d {
	case 24 * time.Hour:
		return w.say("every day")
	case time.Hour:
		return w.say("every hour")
	case time.Minute:
		return w.say("every minute")
	case time.Second:
		return w.say("every second")
	}
	return w.say("every %s", w.duration(d))
}

// duration is a length of time in whole milliseconds.
func (w words) duration(d time.Duration) string {
	if d < time.Millisecond {
		return d.String()
	}
	var parts []string
	for _, u := range units {
		n := int(d / u.size)
		switch {
		case n == 1:
			parts = append(parts, w.say(u.one))
		case n > 1:
			parts = append(parts, w.say(u.many, n))
		}
		d %= u.size
	}
	return w.join(parts)
}
