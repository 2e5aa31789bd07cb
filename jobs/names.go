package jobs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what names a job's place. They are the same at every door: Go API,
// program, dashboard.
const (
	// MaxNameLength is the most characters (not bytes) a queue or a kind may have.
	MaxNameLength = 200
	// MinPriority and MaxPriority bound a job's priority; the higher number is
	// the more urgent one, 0 is the default.
	MinPriority = -4
	MaxPriority = 4
)

// checkQueue refuses names that a screen, a URL or Postgres could not carry.
// Anything printable is fine: "a/b", "a b", "100%".
func checkQueue(name string) error { return checkName("queue", name) }

// checkKind applies the rules of checkQueue to the name of a kind.
func checkKind(name string) error { return checkName("kind", name) }

func checkName(field, name string) error {
	problem := ""
	switch {
	case name == "":
		problem = fmt.Sprintf("is empty: 1 to %d characters", MaxNameLength)
	case !utf8.ValidString(name):
		problem = "is not valid UTF-8"
	case utf8.RuneCountInString(name) > MaxNameLength:
		problem = fmt.Sprintf("has %d characters: at most %d", utf8.RuneCountInString(name), MaxNameLength)
	case strings.TrimSpace(name) == "":
		problem = "is blank: at least one visible character"
	default:
		for i, r := range name {
			// Line and paragraph separators break a line of a log just as \n does.
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				problem = fmt.Sprintf("holds the control character %U at byte %d", r, i)
				break
			}
		}
	}
	if problem == "" {
		return nil
	}
	return &InputError{Field: field, Problem: problem}
}

func checkPriority(p int) error {
	if p < MinPriority || p > MaxPriority {
		return &InputError{Field: "priority", Problem: fmt.Sprintf("%d is outside %d to %d", p, MinPriority, MaxPriority)}
	}
	return nil
}
