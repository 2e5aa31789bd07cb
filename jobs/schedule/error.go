package schedule

import (
	"strconv"

	"github.com/tekrar/tekrar/jobs/internal/sentence"
)

// Error is an input that this package refuses. Its text is meant for the person
// who typed the input, and holds at most 40 bytes of it.
type Error struct {
	Field   string // "cron", "zone", "interval", "start", "end" or "misfire"
	Problem string // what is wrong with it, with the limit if there is one

	of sentence.Sentence
}

// Error gives "field: problem".
func (e *Error) Error() string { return e.Field + ": " + e.Problem }

// Say is Problem in another language, put together as by Schedule.Say.
func (e *Error) Say(say func(format string, args ...any) string) string {
	if e.of.Format == "" {
		return e.Problem
	}
	return e.of.Say(say)
}

func refuse(field, format string, args ...any) error {
	of := phrased(format, args...)
	return &Error{Field: field, Problem: of.Error(), of: of}
}

func phrased(format string, args ...any) sentence.Sentence { return sentence.New(format, args...) }

// quote keeps a refused input from filling a log line.
func quote(s string) string {
	if len(s) > 40 {
		return strconv.QuoteToASCII(s[:40]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
