package idempotency

import (
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// InputError is a key or an option that is refused, with its name and limit.
type InputError = jobs.InputError

var (
	// ErrClaimLost: the token no longer holds its claim, or its attempt no longer
	// holds its job. Stop; whatever was to be written has not been.
	ErrClaimLost = errors.New("effect claim lost: it or its job was taken over")
	// ErrKeyExpired: the provider may have forgotten the key, so that sending it
	// again could be a second effect.
	ErrKeyExpired = errors.New("the provider's key life is over")
	// ErrDrift: an unsettled claim of the job was not touched by the attempt that
	// succeeded, so the key changed between attempts.
	ErrDrift = errors.New("the idempotency key changed between attempts")
)

// BusyError: somebody else holds the key now. Returned from a handler it snoozes
// the job, without using a retry, until that holder's lease ends.
type BusyError struct {
	Key    string
	Holder Holder
	Until  time.Time // by the database's clock
	wait   time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("effect claim %s is held by %s until %s", e.Key, e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// Unwrap makes the engine snooze.
func (e *BusyError) Unwrap() error { return jobs.Snooze(e.wait) }

// UnknownError: the effect began, and nobody can say whether it happened. The job
// fails and is not retried by itself; an operator decides.
type UnknownError struct {
	Key   string
	Since time.Time
	Err   error // what the last try said; may be nil
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("outcome unknown: the effect of %s began and may have happened", e.Key)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *UnknownError) Unwrap() error { return e.Err }

// Rule is what the job page names as the rule that decided.
func (e *UnknownError) Rule() string { return "outcome unknown" }

// MismatchError: the key was used before for other content.
type MismatchError struct{ Key string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("key %s was claimed for other content; new content of the same thing needs Key.Version", e.Key)
}

// Rule is what the job page names as the rule that decided.
func (e *MismatchError) Rule() string { return "key reused with other content" }

// GuardError: the key looks as if it changed from run to run.
type GuardError struct{ Key, Looks string }

func (e *GuardError) Error() string {
	return fmt.Sprintf("key %s looks like %s: it would be another one at the next run", e.Key, e.Looks)
}

// Rule is what the job page names as the rule that decided.
func (e *GuardError) Rule() string { return "unstable idempotency key" }
