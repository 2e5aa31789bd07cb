package jobs

import (
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
	switch {
	case name == "":
		return inputError(field, "is empty: 1 to %d characters", MaxNameLength)
	case !utf8.ValidString(name):
		return inputError(field, "is not valid UTF-8")
	case utf8.RuneCountInString(name) > MaxNameLength:
		return inputError(field, "has %d characters: at most %d", utf8.RuneCountInString(name), MaxNameLength)
	case strings.TrimSpace(name) == "":
		return inputError(field, "is blank: at least one visible character")
	}
	for i, r := range name {
		// Line and paragraph separators break a line of a log just as \n does.
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return inputError(field, "holds the control character %U at byte %d", r, i)
		}
	}
	return nil
}

func checkPriority(p int) error {
	if p < MinPriority || p > MaxPriority {
		return inputError("priority", "%d is outside %d to %d", p, MinPriority, MaxPriority)
	}
	return nil
}
