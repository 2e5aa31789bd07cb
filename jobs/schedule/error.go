package schedule

import (
	"fmt"
	"slices"
	"strconv"
)

// Error is an input that this package refuses. Its text is meant for the person
// who typed the input, and holds at most 40 bytes of it.
type Error struct {
	Field   string // "cron", "zone", "interval", "start", "end" or "misfire"
	Problem string // what is wrong with it, with the limit if there is one

	of problem
}

// Error gives "field: problem".
func (e *Error) Error() string { return e.Field + ": " + e.Problem }

// Say is Problem in another language, put together as by Schedule.Say.
func (e *Error) Say(say func(format string, args ...any) string) string {
	if e.of.format == "" {
		return e.Problem
	}
	return e.of.say(say)
}

func refuse(field, format string, args ...any) error {
	p := problem{format, args}
	return &Error{Field: field, Problem: p.Error(), of: p}
}

// problem is a sentence and its values; some may be sentences of their own, or what
// words of the sentence's language make.
type problem struct {
	format string
	args   []any
}

func phrased(format string, args ...any) problem { return problem{format, args} }

func (p problem) Error() string { return p.say(fmt.Sprintf) }

func (p problem) say(say func(format string, args ...any) string) string {
	args := slices.Clone(p.args)
	for i, a := range args {
		switch inner := a.(type) {
		case problem:
			args[i] = inner.say(say)
		case func(words) string:
			args[i] = inner(words{say})
		}
	}
	return say(p.format, args...)
}

// quote keeps a refused input from filling a log line.
func quote(s string) string {
	if len(s) > 40 {
		return strconv.QuoteToASCII(s[:40]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
