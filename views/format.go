package views

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/tekrar/tekrar/views/locale"
)

// text writes the number as the reader does, with a plus when it is a lower bound:
// "10,000+".
func (c Count) text(l *locale.Locale) string {
	if c.AtLeast {
		return l.Number(c.N) + "+"
	}
	return l.Number(c.N)
}

// of is the phrase with the count's own words; many has %s in the place of the
// number: "10,000+ jobs".
func (c Count) of(l *locale.Locale, one, many string) string {
	if c.N == 1 && !c.AtLeast {
		return l.Say(one)
	}
	return l.Say(many, c.text(l))
}

// machine is the datetime attribute.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

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
