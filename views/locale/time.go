package locale

import "time"

// In is t in the reader's zone.
func (l *Locale) In(t time.Time) time.Time { return t.In(l.or().zone) }

// Clock is the time of day: "15:04".
func (l *Locale) Clock(t time.Time) string { return l.In(t).Format("15:04") }

// Seconds is the time of day with seconds.
func (l *Locale) Seconds(t time.Time) string { return l.In(t).Format("15:04:05") }

// Millis is the time of day with milliseconds.
func (l *Locale) Millis(t time.Time) string { return l.In(t).Format("15:04:05.000") }

// Date is the day as the language writes it.
func (l *Locale) Date(t time.Time) string { return l.In(t).Format(l.or().day) }

// Day is the day without its year: "2 Jan".
func (l *Locale) Day(t time.Time) string {
	at := l.In(t)
	return l.Say(months[at.Month()-1], at.Day())
}

var months = [...]string{
	Sentence("%d Jan"), Sentence("%d Feb"), Sentence("%d Mar"), Sentence("%d Apr"), Sentence("%d May"), Sentence("%d Jun"),
	Sentence("%d Jul"), Sentence("%d Aug"), Sentence("%d Sep"), Sentence("%d Oct"), Sentence("%d Nov"), Sentence("%d Dec"),
}

// There is the date and time in the zone that t has, with as many digits of a second as
// it has and the zone's short name; "" when that is the reader's zone, which Whole is in.
func (l *Locale) There(t time.Time) string {
	if t.Location().String() == l.Zone() {
		return ""
	}
	return t.Format(l.or().day + " 15:04:05.999999 MST")
}

// Stamp is date and time with milliseconds and the zone.
func (l *Locale) Stamp(t time.Time) string { return l.Date(t) + " " + l.Millis(t) + " " + l.offset(t) }

// Whole is date and time with as many digits of a second as it has, and the zone.
func (l *Locale) Whole(t time.Time) string {
	return l.Date(t) + " " + l.In(t).Format("15:04:05.999999") + " " + l.offset(t)
}

// Own is Whole in the zone that t has instead of the reader's.
func (l *Locale) Own(t time.Time) string {
	if t.Location() == time.UTC {
		return t.Format(l.or().day + " 15:04:05.999999 UTC")
	}
	return t.Format(l.or().day + " 15:04:05.999999 -07:00")
}

// offset names the zone at that time: "UTC", else "+03:00", which is the same twice a
// year only where clocks stay as they are.
func (l *Locale) offset(t time.Time) string {
	if l.or().zone == time.UTC {
		return UTC
	}
	return l.In(t).Format("-07:00")
}

// Age is a length of time in one unit, as relative times tick in it. static/app.js
// writes the same from the same sentences.
func (l *Locale) Age(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return l.Say("%d s", s)
	case s < 3600:
		return l.Say("%d min", s/60)
	case s < 172800:
		return l.Say("%d h", s/3600)
	}
	return l.Say("%d d", s/86400)
}

// Relative is t as seen from now: "12 s ago", "in 5 min", "now" within a second.
func (l *Locale) Relative(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d > -time.Second && d < time.Second:
		return l.Say("now")
	case d < 0:
		return l.Say("in %s", l.Age(-d))
	}
	return l.Say("%s ago", l.Age(d))
}

// Since is the bare age of t, never negative.
func (l *Locale) Since(t, now time.Time) string { return l.Age(max(0, now.Sub(t))) }
