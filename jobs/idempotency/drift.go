package idempotency

import (
	"context"
	"fmt"
	"strings"

	"github.com/tekrar/tekrar/jobs"
)

// DriftError: the attempt succeeded, but claims of earlier attempts are open.
type DriftError struct {
	Attempt int
	Keys    []string // the claims that it did not touch
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("%v: attempt %d succeeded without touching %s", ErrDrift, e.Attempt, strings.Join(e.Keys, ", "))
}

// Unwrap makes errors.Is(err, ErrDrift) hold.
func (e *DriftError) Unwrap() error { return ErrDrift }

// Rule is what the job page names as the rule that decided.
func (e *DriftError) Rule() string { return "idempotency key changed between attempts" }

// Checked looks for drift when fn succeeds: an unsettled claim of an earlier
// attempt of the same job that this one did not touch was made under another key,
// and what it stood for may have been done twice. With Config.Drift Warn that is
// logged with both attempts' keys, with Strict it is a permanent error. Either way
// the engine does not let such a job end as succeeded.
//
//	jobs.Handle(client, idempotency.Checked(claims, sendInvoice))
func Checked[T jobs.Args](c *Claims, fn func(context.Context, *jobs.Job[T]) error) func(context.Context, *jobs.Job[T]) error {
	return func(ctx context.Context, job *jobs.Job[T]) error {
		if err := fn(ctx, job); err != nil {
			return err
		}
		return c.drift(ctx)
	}
}

func (c *Claims) drift(ctx context.Context) error {
	a, ok := c.current(ctx)
	if !ok || c.cfg.Drift == Off || a.Attempt < 2 {
		return nil
	}
	all, err := c.db.JobEffects(ctx, a.JobID)
	if err != nil {
		return nil // a check that cannot be made must not undo the work; the engine's own looks again
	}
	drifted := &DriftError{Attempt: a.Attempt}
	var touched []string
	for _, e := range all {
		switch {
		case e.Holder.Attempt == a.Attempt:
			touched = append(touched, e.Key)
		case e.State.Unsettled():
			drifted.Keys = append(drifted.Keys, e.Key)
		}
	}
	if len(drifted.Keys) == 0 {
		return nil
	}
	if c.cfg.Drift == Strict {
		return jobs.Permanent(drifted)
	}
	c.cfg.Logger.Warn("idempotency key changed between attempts", "job_id", a.JobID, "attempt", a.Attempt,
		"open", drifted.Keys, "of this attempt", touched)
	return nil
}
