package schedule

import (
	"fmt"
	"strconv"
)

// Error is an input that this package refuses. Its text is meant for the person
// who typed the input, and holds at most 40 bytes of it.
type Error struct {
	Field   string // "cron", "zone", "interval", "start", "end" or "misfire"
	Problem string // what is wrong with it, with the limit if there is one
}

// Error gives "field: problem".
func (e *Error) Error() string { return e.Field + ": " + e.Problem }

func refuse(field, format string, args ...any) error {
	return &Error{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// quote keeps a refused input from filling a log line.
func quote(s string) string {
	if len(s) > 40 {
		return strconv.QuoteToASCII(s[:40]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
