package jobs

import (
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Why a running handler's context ended, as context.Cause tells.
var (
	// ErrShutdown: the server stops and its drain time is over. A handler that
	// now returns an error is enqueued again, and no retry is used.
	ErrShutdown = errors.New("the server is stopping")
	// ErrLeaseLost: another server took the job over. Whatever this attempt
	// still returns is kept as a late result only; it should touch nothing more.
	ErrLeaseLost = store.ErrLeaseLost
	// ErrDeleted: a person deleted the job while it ran.
	ErrDeleted = errors.New("the job was deleted")
	// ErrCancelled: a person asked this attempt to end. A handler that now returns
	// an error ends the job as deleted; one that returns nil has succeeded.
	ErrCancelled = errors.New("a person cancelled the job")
)

// ErrGoexit is the error of an attempt that ended by runtime.Goexit, which
// t.FailNow calls too. Match it with Is(ErrGoexit).
var ErrGoexit = errors.New("the handler ended by runtime.Goexit without returning")

// Permanent marks err as one that no retry can cure: the job fails at once,
// whatever its budget, and stays failed even where the policy deletes. The mark
// counts anywhere in the wrap chain; err is still found by errors.Is and As.
// Permanent(nil) is nil, so that `return jobs.Permanent(check())` is safe.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// Cancel ends the job as deleted: the handler found that the work is no longer
// wanted. err says why and may be nil; Cancel(nil) is an error all the same.
func Cancel(err error) error { return &cancelError{err} }

// Snooze puts the job off for d: it runs again then, and no retry is used. d
// below MinSnooze, negative included, waits MinSnooze; d above MaxWait waits
// MaxWait. After MaxSnoozes snoozes of one job the next one fails it.
func Snooze(d time.Duration) error { return &snoozeError{d} }

// RetryAfter returns err as an ordinary failure that uses a retry, but sets the
// wait before that retry to d instead of the policy's, as a provider's
// Retry-After header asks. d is held to 0 to MaxWait. RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, d}
}

const (
	// MinSnooze is the shortest snooze, 100 ms: a handler that snoozes for no
	// time in a loop must not keep a worker and the database busy.
	MinSnooze = 100 * time.Millisecond
	// MaxSnoozes is how often one job may snooze.
	MaxSnoozes = 10_000
)

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

type cancelError struct{ err error }

func (e *cancelError) Unwrap() error { return e.err }
func (e *cancelError) Error() string {
	if e.err == nil {
		return "cancelled"
	}
	return e.err.Error()
}

type snoozeError struct{ wait time.Duration }

func (e *snoozeError) Error() string { return fmt.Sprintf("snoozed for %v", e.wait) }

type retryAfterError struct {
	err  error
	wait time.Duration
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// ruling finds what a handler asked for. Of Permanent, Cancel and Snooze the
// outermost counts; RetryAfter counts only where none of them is, since it says
// when, not whether. Nil if nothing was asked.
func ruling(err error) error {
	var found, after error
	walk(err, func(e error) bool {
		switch e.(type) {
		case *permanentError, *cancelError, *snoozeError:
			found = e
		case *retryAfterError:
			if after == nil {
				after = e
			}
		}
		return found != nil
	})
	if found != nil {
		return found
	}
	return after
}
