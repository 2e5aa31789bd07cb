package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// Result is how an attempt to claim ended.
type Result int

// The results.
const (
	Held     Result = iota + 1 // the claim is the caller's
	Done                       // the effect has happened; Receipt proves it
	Busy                       // Holder has it until Until
	Unknown                    // begun by somebody who is gone, Since; may have happened
	Mismatch                   // the key was used for other content
)

func (r Result) String() string {
	switch r {
	case Held:
		return "held"
	case Done:
		return "done"
	case Busy:
		return "busy"
	case Unknown:
		return "unknown"
	case Mismatch:
		return "mismatch"
	}
	return fmt.Sprintf("result(%d)", int(r))
}

// Outcome is what Claim found. Anything but Held means: do not do the effect.
type Outcome struct {
	Result  Result
	Claim   *Claim          // Held
	Receipt json.RawMessage // Done; "null" when none was given
	Until   time.Time       // Busy: by the database's clock; the holder may extend it
	Holder  Holder          // Busy, Unknown: who has or had it
	Since   time.Time       // Unknown
	wait    time.Duration   // Busy: Until from the database's now
	key     string
	reason  string
}

// Err is the outcome as an error for the engine: nil for Held and Done, a snooze
// for Busy, a permanent failure for the others.
func (o Outcome) Err() error {
	switch o.Result {
	case Busy:
		return &BusyError{Key: o.key, Holder: o.Holder, Until: o.Until, wait: o.wait}
	case Unknown:
		var last error
		if o.reason != "" {
			last = fmt.Errorf("%s", o.reason)
		}
		return jobs.Permanent(&UnknownError{Key: o.key, Since: o.Since, Err: last})
	case Mismatch:
		return jobs.Permanent(&MismatchError{Key: o.key})
	}
	return nil
}

// Claim tries to claim the key. q is any DB, Conn or Tx with Tekrar's schema; nil
// is the database of New. A claim made in a transaction comes true with it, and
// is marked in it until Claim.On says otherwise; that transaction must be read
// committed. In a job's context the claim belongs to the running attempt;
// ErrClaimLost then: that attempt no longer holds its job.
func (c *Claims) Claim(ctx context.Context, q jobs.Querier, key Key, opts ...Option) (Outcome, error) {
	o, err := c.options(opts)
	if err != nil {
		return Outcome{}, err
	}
	return c.claim(ctx, q, key, o, false)
}

func (c *Claims) claim(ctx context.Context, q jobs.Querier, key Key, o options, begin bool) (Outcome, error) {
	if err := key.Err(); err != nil {
		return Outcome{}, jobs.Permanent(err)
	}
	if err := c.guard(ctx, key); err != nil {
		return Outcome{}, err
	}
	row, took, err := c.db.ClaimEffect(ctx, q, store.EffectTry{
		Key: key.String(), Fingerprint: o.fingerprint, Holder: c.holder(ctx, o), Begin: begin,
		Resend: o.onUnknown == Resend, KeyLife: o.keyLife,
	})
	if errors.Is(err, store.ErrStateChanged) {
		return Outcome{}, fmt.Errorf("claim %s: %w", key, ErrClaimLost)
	}
	if err != nil {
		return Outcome{}, err
	}
	if took {
		claim := &Claim{claims: c, q: q, key: row.Key, token: row.Token, opts: o, row: row}
		return Outcome{Result: Held, Claim: claim, key: row.Key}, nil
	}
	return outcomeOf(row, o), nil
}

func outcomeOf(row store.Effect, o options) Outcome {
	out := Outcome{Holder: holderOf(row.Holder), key: row.Key, reason: row.Reason}
	other := o.fingerprint != "" && row.Fingerprint != "" && o.fingerprint != row.Fingerprint
	switch {
	case other:
		out.Result = Mismatch
	case row.State == store.EffectDone:
		out.Result, out.Receipt = Done, row.Receipt
	case row.State == store.EffectUnknown:
		out.Result = Unknown
		if row.DoubtAt != nil {
			out.Since = *row.DoubtAt
		}
	default:
		out.Result, out.Until = Busy, row.Until
		out.wait = max(row.Until.Sub(row.Now), minBusy)
	}
	return out
}

// minBusy: a holder whose lease is over is taken over by the engine's next sweep.
const minBusy = time.Second

// holder is who claims: the running attempt if its job is in the same database,
// where its end can be seen.
func (c *Claims) holder(ctx context.Context, o options) store.EffectHolder {
	h := store.EffectHolder{Name: c.cfg.Holder, StaleAfter: o.staleAfter}
	if a, ok := c.current(ctx); ok {
		h.JobID, h.Attempt, h.Server = a.JobID, a.Attempt, a.Server
	}
	return h
}

func (c *Claims) current(ctx context.Context) (jobs.AttemptInfo, bool) {
	a, ok := jobs.Current(ctx)
	return a, ok && a.DB.Same(c.db)
}
