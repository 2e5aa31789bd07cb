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

// Effect does the effect of a claim and returns what proves it (see Claim.Done).
type Effect func(ctx context.Context, c *Claim) (receipt any, err error)

// Do does an effect at most once: it claims the key, begins, calls fn, and marks
// the effect as done. It returns the receipt, of an earlier run if the effect had
// happened before. What it returns as an error a handler returns in turn:
//
//   - somebody else holds the key: BusyError; the job snoozes, no retry is used;
//   - the outcome of an earlier run is unknown and the policy is Hold: UnknownError,
//     the job fails and is not retried by itself;
//   - fn failed: its error. The claim is unknown then, since the effect may have
//     happened all the same, unless fn called Release or Fail. With Hold the error
//     becomes an UnknownError;
//   - the claim was lost: ErrClaimLost, nothing more is written; the job snoozes.
//
// A panic of fn passes through, as a crash would: the claim stays begun. fn should
// return before the lease of the engine ends.
func (c *Claims) Do(ctx context.Context, key Key, fn Effect, opts ...Option) (json.RawMessage, error) {
	o, err := c.options(opts)
	if err != nil {
		return nil, err
	}
	out, err := c.claim(ctx, nil, key, o, !o.beginInside)
	if err == nil && out.Result == Unknown && o.probe != nil {
		out, err = c.ask(ctx, key, o)
	}
	switch {
	case err != nil:
		return nil, lost(err)
	case out.Result == Done:
		return out.Receipt, nil
	case out.Result != Held:
		return nil, out.Err()
	}
	claim := out.Claim
	if !o.beginInside && claim.last().State != store.EffectBegun {
		if err := claim.Begin(ctx); err != nil {
			return nil, claim.refused(ctx, err)
		}
	}
	receipt, err := fn(ctx, claim)
	if text := claim.pending(); text != nil { // fn knew that the effect happened, and failed to write it
		return json.RawMessage(*text), lost(claim.markAgain(ctx, *text))
	}
	if err != nil {
		return nil, claim.failed(ctx, err)
	}
	if row := claim.last(); receipt == nil && row.State == store.EffectDone {
		return row.Receipt, nil // fn called Done
	}
	if err := claim.mark(ctx, receipt); err != nil {
		return nil, lost(err)
	}
	return json.RawMessage(receiptText(receipt)), nil
}

// refused: Begin said no, so this run did nothing.
func (c *Claim) refused(ctx context.Context, err error) error {
	if !errors.Is(err, ErrKeyExpired) {
		return lost(err)
	}
	ctx, cancel := aftermath(ctx)
	defer cancel()
	since := c.last().DoubtAt
	if err2 := c.Fail(ctx, err.Error()); err2 != nil {
		return lost(errors.Join(err, err2))
	}
	if since == nil {
		return jobs.Permanent(err)
	}
	return jobs.Permanent(&UnknownError{Key: c.key, Since: *since, Err: err})
}

// failed: fn returned an error. It settles the claim unless fn has.
func (c *Claim) failed(ctx context.Context, err error) error {
	if errors.Is(err, ErrKeyExpired) {
		return c.refused(ctx, err)
	}
	if errors.Is(err, ErrClaimLost) || errors.Is(context.Cause(ctx), jobs.ErrLeaseLost) {
		return lost(err)
	}
	after, cancel := aftermath(ctx)
	defer cancel()
	var settled error
	switch c.last().State {
	case store.EffectClaimed:
		settled = c.Release(after, err.Error())
	case store.EffectBegun:
		settled = c.Unknown(after, err)
	}
	if settled != nil {
		return lost(errors.Join(err, settled))
	}
	row := c.last()
	if row.State != store.EffectUnknown || c.opts.onUnknown == Resend || c.opts.probe != nil {
		return err
	}
	since := row.Now
	if row.DoubtAt != nil {
		since = *row.DoubtAt
	}
	return jobs.Permanent(&UnknownError{Key: c.key, Since: since, Err: err})
}

// mark writes that the effect happened, however often that takes.
func (c *Claim) mark(ctx context.Context, receipt any) error {
	err := c.Done(ctx, receipt)
	if err == nil || errors.Is(err, ErrClaimLost) {
		return err
	}
	return c.markAgain(ctx, receiptText(receipt))
}

func (c *Claim) markAgain(ctx context.Context, receipt string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.claims.cfg.MarkPatience)
	defer cancel()
	wait := 50 * time.Millisecond
	for {
		err := c.finish(ctx, receipt)
		if err == nil || errors.Is(err, ErrClaimLost) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			c.claims.cfg.Logger.Error("effect happened but could not be marked as done", "key", c.key, "receipt", receipt, "err", err)
			return fmt.Errorf("mark %s as done: %w", c.key, err)
		}
		wait = min(2*wait, time.Second)
	}
}

// lost lets the engine look again soon, without a retry used, when the claim was
// lost while the job was not: the new holder finishes the effect or leaves it.
func lost(err error) error {
	if errors.Is(err, ErrClaimLost) {
		return errors.Join(err, jobs.Snooze(minBusy))
	}
	return err
}

// aftermath outlives the end of ctx: what happened must be written down.
func aftermath(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}
