package schedule

import (
	"strings"

	"github.com/tekrar/tekrar/jobs/internal/sentence"
)

// MaxSpec is the longest expression in bytes. Every value of all six fields,
// written out, takes less.
const MaxSpec = 1_000

var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// checkASCII comes before everything else, so that no later step has to think
// of digits and blanks from other scripts.
func checkASCII(spec string) error {
	for i := range len(spec) {
		if c := spec[i]; (c < ' ' && c != '\t') || c > '~' {
			return refuse("cron", "byte %d is neither a printable ASCII character nor a tab", i+1)
		}
	}
	return nil
}

// parseExpression reads an expression whose fields have one space between them.
func parseExpression(spec string) (*expression, error) {
	if strings.HasPrefix(spec, "@") {
		plain, ok := macros[strings.ToLower(spec)]
		if !ok {
			return nil, refuse("cron", "%s is no macro: use @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or @every 90s", quote(spec))
		}
		spec = plain
	}
	if name, _, ok := strings.Cut(spec, "="); ok && (name == "TZ" || name == "CRON_TZ") {
		return nil, refuse("cron", "%s= does not belong here: the zone is a setting of its own", name)
	}
	texts := strings.Split(spec, " ")
	if spec == "" {
		texts = nil
	}
	switch len(texts) {
	case 5:
		texts = append([]string{"0"}, texts...)
	case 6:
	default:
		return nil, refuse("cron", "has %d fields: 5 (minute, hour, day of month, month, day of week), or 6 with seconds first", len(texts))
	}
	e := new(expression)
	for i, target := range []*set{&e.second, &e.minute, &e.hour, &e.day, &e.month, &e.weekday} {
		last, err := fields[i].parse(texts[i], target)
		if err != nil {
			return nil, refuse("cron", "%s %s: %v", phrased(fields[i].name), quote(texts[i]), err)
		}
		e.lastDay = e.lastDay || last
	}
	e.everyHour = e.hour.count() == 24
	e.repeats = e.everyHour
	for _, s := range []set{e.second, e.minute, e.hour} {
		e.repeats = e.repeats || s.any || s.step
	}
	return e, e.checkDates()
}

// checkDates refuses dates that never come, which a search for the next fire
// would look for until the end of time. Only a day of month can be the cause:
// a day of the week comes in every month.
func (e *expression) checkDates() error {
	if e.day.any || !e.weekday.any || e.lastDay {
		return nil
	}
	longest := [...]int{1: 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for _, m := range e.month.values() {
		if e.day.first() <= longest[m] {
			return nil
		}
	}
	months := sentence.Func(func(say sentence.Say) string { w := words{say}; return w.joinOr(w.items(e.month, w.month)) })
	days := sentence.Func(func(say sentence.Say) string { w := words{say}; return w.joinOr(w.items(e.day, plain)) })
	return refuse("cron", "never fires: %s has no day %s", months, days)
}
