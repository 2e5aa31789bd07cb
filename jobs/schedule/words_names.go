package schedule

import (
	"fmt"
	"strings"
	"time"
)

// phrase marks a format in a table that is given to say later, and is that format.
func phrase(english string) string { return english }

var units = []struct {
	size      time.Duration
	one, many string
}{
	{24 * time.Hour, phrase("1 day"), phrase("%d days")},
	{time.Hour, phrase("1 hour"), phrase("%d hours")},
	{time.Minute, phrase("1 minute"), phrase("%d minutes")},
	{time.Second, phrase("1 second"), phrase("%d seconds")},
	{time.Millisecond, phrase("1 millisecond"), phrase("%d milliseconds")},
}

var monthNames = [...]string{
	1: phrase("January"), phrase("February"), phrase("March"), phrase("April"), phrase("May"), phrase("June"),
	phrase("July"), phrase("August"), phrase("September"), phrase("October"), phrase("November"), phrase("December"),
}

var weekdayNames = [...]string{
	phrase("Sunday"), phrase("Monday"), phrase("Tuesday"), phrase("Wednesday"), phrase("Thursday"), phrase("Friday"), phrase("Saturday"),
}

func (w words) month(v int) string   { return w.say(monthNames[v]) }
func (w words) weekday(v int) string { return w.say(weekdayNames[v]) }
func plain(v int) string             { return fmt.Sprint(v) }

func (w words) join(items []string) string {
	if n := len(items); n > 1 {
		return w.say("%s and %s", strings.Join(items[:n-1], ", "), items[n-1])
	}
	return strings.Join(items, "")
}

func (w words) joinOr(items []string) string {
	if n := len(items); n > 1 {
		return w.say("%s or %s", strings.Join(items[:n-1], ", "), items[n-1])
	}
	return strings.Join(items, "")
}
