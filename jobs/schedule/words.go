package schedule

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// Words describes the schedule in one English sentence without a full stop,
// zone and limits included: "At 02:30 every day, America/New_York time". Limits
// are times of that zone.
func (s Schedule) Words() string { return s.Say(english) }

// Say is Words in another language. It puts the sentence together from phrases,
// each by a call of say: a format as fmt.Sprintf takes it, in English, to be
// looked up in a catalogue, and its values, which are an int, a string, or, of a
// limit, a time.Time in the schedule's zone, for %s.
func (s Schedule) Say(say func(format string, args ...any) string) string {
	w := words{say}
	var text string
	switch start, end := s.bounds.Start.In(s.Location()), s.bounds.End.In(s.Location()); {
	case s.cron == nil && s.every == 0:
		text = w.say("never")
	default:
		text = w.schedule(s)
		switch {
		case start.IsZero():
		case s.cron != nil:
			text = w.say("%s, from %s", text, start)
		default:
			text = w.say("%s, counted from %s", text, start)
		}
		if !end.IsZero() {
			text = w.say("%s, until %s", text, end)
		}
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// words puts sentences together. A phrase that takes another into it is one format,
// so that a language can turn them round.
type words struct {
	say func(format string, args ...any) string
}

// english writes limits as people write times.
func english(format string, args ...any) string {
	for i, a := range args {
		if t, ok := a.(time.Time); ok {
			args[i] = stamp(t)
		}
	}
	return fmt.Sprintf(format, args...)
}

func (w words) schedule(s Schedule) string {
	switch {
	case s.every > 0:
		return w.interval(s.every)
	case s.Zone() == "UTC":
		return w.say("%s, UTC", w.expression(s.cron))
	}
	return w.say("%s, %s time", w.expression(s.cron), s.Zone())
}

func (w words) expression(e *expression) string {
	text, needsDay := w.times(e)
	days := w.daysOfMonth(e)
	switch {
	case !e.day.any && !e.weekday.any:
		text = w.say("%s on %s or on %s", text, days, w.list(e.weekday, w.weekday))
	case !e.day.any:
		text = w.say("%s on %s", text, days)
	case !e.weekday.any:
		text = w.say("%s on %s", text, w.list(e.weekday, w.weekday))
	case needsDay || !e.month.any:
		text = w.say("%s every day", text)
	}
	if !e.month.any {
		text = w.say("%s in %s", text, w.list(e.month, w.month))
	}
	return text
}

func (w words) daysOfMonth(e *expression) string {
	var days []string
	switch n := e.day.count(); {
	case n == 1:
		days = append(days, w.say("day %s of the month", w.list(e.day, plain)))
	case n > 1:
		days = append(days, w.say("days %s of the month", w.list(e.day, plain)))
	}
	if e.lastDay {
		days = append(days, w.say("the last day of the month"))
	}
	return w.join(days)
}

// list writes values in words, three and more in a row as "a to b".
func (w words) list(s set, name func(int) string) string { return w.join(w.items(s, name)) }

func (w words) items(s set, name func(int) string) []string {
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
		items = append(items, w.say("%s to %s", name(vs[i]), name(vs[j])))
		i = j + 1
	}
	return items
}
