package views

import (
	"strings"
	"time"

	"github.com/tekrar/tekrar/views/locale"
)

// These go when nothing uses them any more: what they write is English only.

var en *locale.Locale

func number(n int64) string            { return en.Number(n) }
func percent(part, whole int64) string { return en.Percent(part, whole) }
func duration(d time.Duration) string  { return en.Duration(d) }
func age(d time.Duration) string       { return en.Age(d) }
func relative(t, now time.Time) string { return en.Relative(t, now) }
func since(t, now time.Time) string    { return en.Since(t, now) }
func stamp(t time.Time) string         { return en.Stamp(t) }
func clock(t time.Time) string         { return en.Clock(t) }
func seconds(t time.Time) string       { return en.Seconds(t) }
func rate(perMinute float64) string    { return en.Rate(perMinute) }
func list(names []string) string       { return en.List(names) }
func (c Count) String() string         { return c.text(en) }
func ordinal(i int) string             { return [...]string{"first", "second", "third", "later"}[i] }
func plural(n int64, one string) string {
	return strings.Replace(en.Plural(n, "1 "+one, "%d "+one+"s"), "  ", " ", 1)
}
