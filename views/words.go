package views

import (
	"strings"

	"github.com/tekrar/tekrar/views/locale"
)

// Target is the value that names a job together with the state on the person's
// screen, "123:failed".
func Target(id string, s State) string { return id + ":" + string(s) }

// ParseTarget is the inverse of Target; ok is false when either part is missing.
func ParseTarget(s string) (id string, state State, ok bool) {
	id, name, found := strings.Cut(s, ":")
	return id, State(name), found && id != "" && name != ""
}

// current is the attempt that runs, ran last, or comes next while the job waits.
func (r JobRowProps) current() int {
	if r.State == Enqueued || r.State == Scheduled || r.State == Awaiting {
		return r.Attempt + 1
	}
	return r.Attempt
}

// left is the number of retries that remain; -1 when MaxRetries is unknown.
func (r JobRowProps) left() int {
	if r.MaxRetries == nil {
		return -1
	}
	return max(0, *r.MaxRetries-r.Retry)
}

// attemptOf is "attempt 2 of 4". A job that waits counts the coming attempt.
func (r JobRowProps) attemptOf(in *locale.Locale) string {
	n, left := r.current(), r.left()
	if left < 0 || r.State == Succeeded {
		return in.Say("attempt %d", n)
	}
	return in.Say("attempt %d of %d", n, n+left)
}

// shortAttempt is attemptOf for a column headed Attempt.
func (r JobRowProps) shortAttempt(in *locale.Locale) string {
	n, left := r.current(), r.left()
	if left < 0 || r.State == Succeeded {
		return in.Number(int64(n))
	}
	return in.Say("%d of %d", n, n+left)
}

// onceLabel is the button that keeps the retry counter.
func (r JobRowProps) onceLabel(in *locale.Locale) string {
	n := r.Attempt + 1
	switch r.State {
	case Scheduled, Awaiting:
		return in.Say("Run now: %s", r.attemptOf(in))
	case Succeeded:
		return in.Say("Run again: attempt %d", n)
	}
	switch left := r.left(); {
	case left == 0:
		return in.Say("Run once: attempt %d (final)", n)
	case left > 0:
		return in.Say("Run once: attempt %d (%s left)", n, retries(in, left))
	}
	return in.Say("Run once: attempt %d", n)
}

// freshLabel is the button that resets the retry counter.
func (r JobRowProps) freshLabel(in *locale.Locale) string {
	n := r.Attempt + 1
	if r.MaxRetries == nil {
		return in.Say("Retry with a fresh budget: from attempt %d", n)
	}
	if *r.MaxRetries == 0 {
		return in.Say("Retry with a fresh budget: attempt %d", n)
	}
	return in.Say("Retry with a fresh budget: attempts %d–%d", n, n+*r.MaxRetries)
}

func retries(in *locale.Locale, n int) string {
	return in.Plural(int64(n), "1 retry", "%d retries")
}

// shape is the sprite symbol of a state; a waiting retry has its own.
func shape(s State, retrying bool) string {
	if s == Scheduled && retrying {
		return "retrying"
	}
	return string(s)
}

// stateNames are the states as badges and sentences say them.
var stateNames = map[State]string{
	Enqueued: locale.Sentence("enqueued"), Scheduled: locale.Sentence("scheduled"), Awaiting: locale.Sentence("awaiting"),
	Processing: locale.Sentence("processing"), Succeeded: locale.Sentence("succeeded"), Failed: locale.Sentence("failed"),
	Deleted: locale.Sentence("deleted"), Late: locale.Sentence("late"),
}

func stateName(in *locale.Locale, s State) string {
	if name, ok := stateNames[s]; ok {
		return in.Say(name)
	}
	return string(s)
}

// detail is the one line that says most about a job in a list.
func (r JobRowProps) detail(in *locale.Locale) string {
	switch {
	case r.Unhandled && r.State == Enqueued:
		return in.Say("no server handles this kind")
	case r.State == Processing && r.Server != "":
		return in.Say("on %s", r.Server)
	case r.State == Failed && r.ErrorLine != "":
		return r.ErrorLine
	}
	return r.Reason
}

// seriesNames are the series of the attempts chart, bottom of the stack first.
var seriesNames = [...]string{
	locale.Sentence("1st attempt"), locale.Sentence("2nd attempt"), locale.Sentence("3rd attempt"),
	locale.Sentence("4th or later"), locale.Sentence("retries used up"), locale.Sentence("not retryable"),
}

// seriesClass are their classes in the stylesheet.
var seriesClass = [...]string{"a1", "a2", "a3", "a4", "ax", "ap"}
