package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Words describes the schedule in one English sentence without a full stop,
// zone and limits included: "At 02:30 every day, America/New_York time".
func (s Schedule) Words() string {
	var text string
	switch {
	case s.cron != nil:
		text = s.cron.words() + ", " + zoneWords(s.Zone())
	case s.every > 0:
		text = "Every " + durationWords(s.every)
		if !s.bounds.Start.IsZero() {
			text += ", counted from " + stamp(s.bounds.Start)
		}
	default:
		return "Never"
	}
	if start := s.bounds.Start; !start.IsZero() && s.cron != nil {
		text += ", from " + stamp(start)
	}
	if end := s.bounds.End; !end.IsZero() {
		text += ", until " + stamp(end)
	}
	return text
}

func (e *expression) words() string {
	text, needsDay := e.timeWords()
	days := e.dayWords()
	if days == "" && (needsDay || !e.month.any) {
		days = " every day"
	}
	return text + days + e.monthWords()
}

// timeWords also says whether the sentence needs a day: "At 12:00" does, "Every
// 5 minutes" does not.
func (e *expression) timeWords() (text string, needsDay bool) {
	if e.second.count() == 1 && !e.minute.any && !e.hour.any && e.minute.count()*e.hour.count() <= 6 {
		return "At " + e.clockTimes(), true
	}
	var parts []string
	whole := e.second.count() == 1 && e.second.first() == 0
	if !whole {
		parts = append(parts, places(e.second, "second", 60, false))
	}
	often := func() bool { return len(parts) > 0 && strings.HasPrefix(parts[len(parts)-1], "every ") }
	if whole || e.minute.count() < 60 {
		parts = append(parts, places(e.minute, "minute", 60, often()))
	}
	switch {
	case e.hour.count() < 24:
		parts = append(parts, hours(e.hour, often()))
	case e.minute.count() < 60 && strings.HasPrefix(parts[len(parts)-1], "at "):
		parts[len(parts)-1] += " of every hour"
	}
	text = strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:], false
}

func (e *expression) clockTimes() string {
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
	return join(times, "and")
}

func (e *expression) dayWords() string {
	var either []string
	if !e.day.any {
		var days []string
		if e.day.bits != 0 {
			days = append(days, plural("day", e.day.count())+" "+list(e.day, "and", plain)+" of the month")
		}
		if e.lastDay {
			days = append(days, "the last day of the month")
		}
		either = append(either, " on "+join(days, "and"))
	}
	if !e.weekday.any {
		either = append(either, " on "+list(e.weekday, "and", weekdayName))
	}
	return strings.Join(either, " or")
}

func (e *expression) monthWords() string {
	if e.month.any {
		return ""
	}
	return " in " + list(e.month, "and", monthName)
}

// places says which values of a minute or of an hour are meant. often is set if
// the part before it in the sentence is "every …", which another would blur.
func places(s set, unit string, size int, often bool) string {
	if s.count() == size {
		return "every " + unit
	}
	if step := evenStep(s, size); step > 0 {
		return everyStep(step, unit, "0", often)
	}
	return "at " + plural(unit, s.count()) + " " + list(s, "and", plain)
}

func hours(s set, often bool) string {
	if step := evenStep(s, 24); step > 0 {
		return everyStep(step, "hour", "00:00", often)
	}
	vs := s.values()
	if first, last := vs[0], vs[len(vs)-1]; len(vs) > 1 && last-first == len(vs)-1 {
		return fmt.Sprintf("from %02d:00 to %02d:59", first, last)
	}
	return "in " + plural("hour", len(vs)) + " " + list(s, "and", plain)
}

func everyStep(step int, unit, from string, often bool) string {
	if !often {
		return fmt.Sprintf("every %d %ss", step, unit)
	}
	nth := map[int]string{2: "2nd", 3: "3rd"}[step] // even steps divide 60 or 24: no 22nd
	if nth == "" {
		nth = fmt.Sprintf("%dth", step)
	}
	return fmt.Sprintf("in every %s %s from %s", nth, unit, from)
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

// list writes values in words, three and more in a row as "a to b".
func list(s set, conjunction string, name func(int) string) string {
	var items []string
	vs := s.values()
	for i := 0; i < len(vs); {
		j := i
		for j+1 < len(vs) && vs[j+1] == vs[j]+1 {
			j++
		}
		if j < i+2 {
			items = append(items, name(vs[i]))
			i++
			continue
		}
		items = append(items, name(vs[i])+" to "+name(vs[j]))
		i = j + 1
	}
	return join(items, conjunction)
}

func join(items []string, conjunction string) string {
	if n := len(items); n > 1 {
		return strings.Join(items[:n-1], ", ") + " " + conjunction + " " + items[n-1]
	}
	return strings.Join(items, "")
}

func durationWords(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}} {
		if n := int(d / u.size); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, plural(u.name, n)))
			d %= u.size
		}
	}
	if text := join(parts, "and"); text[:2] != "1 " || len(parts) > 1 {
		return text
	}
	return strings.TrimPrefix(parts[0], "1 ")
}

func zoneWords(name string) string {
	if name == "UTC" {
		return name
	}
	return name + " time"
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func plain(v int) string       { return fmt.Sprint(v) }
func monthName(v int) string   { return time.Month(v).String() }
func weekdayName(v int) string { return time.Weekday(v).String() }
