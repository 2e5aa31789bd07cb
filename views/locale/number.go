package locale

import (
	"strconv"
	"strings"
	"time"
)

// Number writes n with the language's mark between thousands.
func (l *Locale) Number(n int64) string {
	if n >= 0 && n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return l.Say("%d", n)
}

// Decimal writes f with so many digits after the language's decimal mark.
func (l *Locale) Decimal(f float64, digits int) string {
	return l.or().say.Sprintf("%.*f", digits, f)
}

// Percent is part of whole with one decimal, "–" without a whole. It says 100 %
// or 0 % only when that is exact: 9,999 of 10,000 is 99.9 %.
func (l *Locale) Percent(part, whole int64) string {
	switch {
	case whole <= 0:
		return "–"
	case part == whole:
		return l.Say("%s %%", "100")
	case part == 0:
		return l.Say("%s %%", "0")
	}
	tenths := part * 1000 / whole
	if tenths == 0 {
		return l.Say("< %s %%", l.Decimal(0.1, 1))
	}
	return l.Say("%s %%", l.Decimal(float64(tenths)/10, 1))
}

// Rate is a number per minute, with a decimal only below ten.
func (l *Locale) Rate(perMinute float64) string {
	if perMinute > 0 && perMinute < 10 {
		return l.Decimal(perMinute, 1)
	}
	return l.Number(int64(perMinute + 0.5))
}

// Duration is a length of time with three significant digits or two units.
func (l *Locale) Duration(d time.Duration) string {
	if d < 0 {
		return "-" + l.Duration(-d)
	}
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d < time.Millisecond:
		return strconv.Itoa(int(d/time.Microsecond)) + " µs"
	case ms < 99.95:
		return l.Say("%s ms", l.Decimal(ms, 1))
	case ms < 999.5:
		return l.Say("%s ms", l.Decimal(ms, 0))
	case ms < 9995:
		return l.Say("%s s", l.Decimal(ms/1000, 2))
	case ms < 59950:
		return l.Say("%s s", l.Decimal(ms/1000, 1))
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 3600:
		return l.Say("%d min %d s", s/60, s%60)
	case s < 86400:
		return l.Say("%d h %d min", s/3600, s/60%60)
	}
	return l.Say("%d d %d h", s/86400, s/3600%24)
}

// List joins names as a person would: "a, b and c".
func (l *Locale) List(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return l.Say("%s and %s", strings.Join(names[:last], ", "), names[last])
}
