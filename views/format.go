package views

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// number writes n with a comma between thousands.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// String writes the number, with a plus when it is a lower bound: "10,000+".
func (c Count) String() string {
	if c.AtLeast {
		return number(c.N) + "+"
	}
	return number(c.N)
}

// plural is "1 job", "2 jobs"; the many form is one + "s".
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}

// of is the phrase with the count's own words: "10,000+ jobs".
func (c Count) of(one string) string {
	if c.N == 1 && !c.AtLeast {
		return "1 " + one
	}
	return c.String() + " " + one + "s"
}

// percent is part of whole with one decimal, "–" without a whole. It says 100 %
// or 0 % only when that is exact: 9,999 of 10,000 is 99.9 %.
func percent(part, whole int64) string {
	switch {
	case whole <= 0:
		return "–"
	case part == whole:
		return "100 %"
	case part == 0:
		return "0 %"
	}
	tenths := part * 1000 / whole
	if tenths == 0 {
		return "< 0.1 %"
	}
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

// duration is a length of time with three significant digits or two units.
func duration(d time.Duration) string {
	if d < 0 {
		return "-" + duration(-d)
	}
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d < time.Millisecond:
		return strconv.Itoa(int(d/time.Microsecond)) + " µs"
	case ms < 99.95:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 999.5:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 9995:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	case ms < 59950:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
	return twoUnits(d)
}

func twoUnits(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s/3600%24)
}

// age is a length of time in one unit, as relative times tick in it.
// static/app.js writes the same words.
func age(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 172800:
		return fmt.Sprintf("%d h", s/3600)
	}
	return fmt.Sprintf("%d d", s/86400)
}

// relative is t as seen from now: "12 s ago", "in 5 min", "now" within a second.
func relative(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d > -time.Second && d < time.Second:
		return "now"
	case d < 0:
		return "in " + age(-d)
	}
	return age(d) + " ago"
}

// since is the bare age of t, never negative.
func since(t, now time.Time) string { return age(max(0, now.Sub(t))) }

// stamp is the absolute time, named.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") + " UTC" }

// machine is the datetime attribute.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func clock(t time.Time) string { return t.UTC().Format("15:04") }

func seconds(t time.Time) string { return t.UTC().Format("15:04:05") }

// rate is a number per minute, with a decimal only below ten.
func rate(perMinute float64) string {
	if perMinute > 0 && perMinute < 10 {
		return strconv.FormatFloat(perMinute, 'f', 1, 64)
	}
	return number(int64(perMinute + 0.5))
}

// clip cuts s after n characters, with a visible mark. Lists stay small and
// legible even when a kind has 5,000 characters; the job's page has the whole text.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	i := 0
	for at := range s {
		if i == n-1 {
			return s[:at] + "…"
		}
		i++
	}
	return s
}

// pretty indents JSON without touching a digit; what is no JSON stays as it is.
func pretty(s string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s), "", "  "); err != nil {
		return s
	}
	return b.String()
}

// list joins names as a person would: "a, b and c".
func list(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
