package views

import (
	"fmt"
	"strings"
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
func (r JobRowProps) attemptOf() string {
	n, left := r.current(), r.left()
	if left < 0 {
		return fmt.Sprintf("attempt %d", n)
	}
	if r.State == Succeeded {
		return fmt.Sprintf("attempt %d", n)
	}
	return fmt.Sprintf("attempt %d of %d", n, n+left)
}

// shortAttempt is attemptOf for a column headed Attempt.
func (r JobRowProps) shortAttempt() string { return strings.TrimPrefix(r.attemptOf(), "attempt ") }

// onceLabel is the button that keeps the retry counter.
func (r JobRowProps) onceLabel() string {
	n := r.Attempt + 1
	switch r.State {
	case Scheduled, Awaiting:
		return "Run now: " + r.attemptOf()
	case Succeeded:
		return fmt.Sprintf("Run again: attempt %d", n)
	}
	switch left := r.left(); {
	case left == 0:
		return fmt.Sprintf("Run once: attempt %d (final)", n)
	case left > 0:
		return fmt.Sprintf("Run once: attempt %d (%s left)", n, retries(left))
	}
	return fmt.Sprintf("Run once: attempt %d", n)
}

// freshLabel is the button that resets the retry counter.
func (r JobRowProps) freshLabel() string {
	n := r.Attempt + 1
	if r.MaxRetries == nil {
		return fmt.Sprintf("Retry with a fresh budget: from attempt %d", n)
	}
	if *r.MaxRetries == 0 {
		return fmt.Sprintf("Retry with a fresh budget: attempt %d", n)
	}
	return fmt.Sprintf("Retry with a fresh budget: attempts %d–%d", n, n+*r.MaxRetries)
}

func retries(n int) string {
	if n == 1 {
		return "1 retry"
	}
	return number(int64(n)) + " retries"
}

// shape is the sprite symbol of a state; a waiting retry has its own.
func shape(s State, retrying bool) string {
	if s == Scheduled && retrying {
		return "retrying"
	}
	return string(s)
}

// detail is the one line that says most about a job in a list.
func (r JobRowProps) detail() string {
	switch {
	case r.Unhandled && r.State == Enqueued:
		return "no server handles this kind"
	case r.State == Processing && r.Server != "":
		return "on " + r.Server
	case r.State == Failed && r.ErrorLine != "":
		return r.ErrorLine
	}
	return r.Reason
}

// ordinal is "first", "second", "third", "later" for an index of Bucket.ByAttempt.
func ordinal(i int) string { return [...]string{"first", "second", "third", "later"}[i] }

// seriesNames are the series of the attempts chart, bottom of the stack first.
var seriesNames = [...]string{"1st attempt", "2nd attempt", "3rd attempt", "4th or later", "retries used up", "not retryable"}

// seriesClass are their classes in the stylesheet.
var seriesClass = [...]string{"a1", "a2", "a3", "a4", "ax", "ap"}
