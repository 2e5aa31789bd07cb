package idempotency

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tekrar/tekrar/jobs"
)

// EffectTx is an effect that consists of writes in tx.
type EffectTx func(ctx context.Context, c *Claim) (receipt any, err error)

// DoTx does an effect that happens in tx itself, and in a job's context completes
// the job there: claim, effect and success commit together, so it happens truly
// once. The caller commits if DoTx returns nil and rolls back otherwise, and
// returns from the handler what it got.
//
// tx is a transaction (a Conn that is in one will do) of the database of New, read
// committed. A second run that comes meanwhile waits for its end. When the effect
// had happened before, fn is not called, and the job is completed with the old
// receipt. ErrLeaseLost and ErrClaimLost: somebody else has the job; roll back.
//
// DoTx completes the job, so it is the last thing that a handler does; with
// several effects in one job claim them in tx one by one instead.
func (c *Claims) DoTx(ctx context.Context, tx jobs.Querier, key Key, fn EffectTx, opts ...Option) (json.RawMessage, error) {
	if isPool(tx) {
		return nil, &InputError{Field: "tx", Problem: "is a pool: begin a transaction on it"}
	}
	o, err := c.options(opts)
	if err != nil {
		return nil, err
	}
	out, err := c.claim(ctx, tx, key, o, true)
	if err != nil {
		return nil, lost(err)
	}
	receipt := out.Receipt
	switch out.Result {
	case Held:
		if receipt, err = out.Claim.doTx(ctx, fn); err != nil {
			return nil, lost(err)
		}
	case Done:
	default:
		return nil, out.Err()
	}
	if _, inJob := c.current(ctx); inJob {
		if err := jobs.CompleteTx(ctx, tx); err != nil {
			return nil, errors.Join(ErrClaimLost, err)
		}
	}
	return receipt, nil
}

func (c *Claim) doTx(ctx context.Context, fn EffectTx) (json.RawMessage, error) {
	if c.last().BegunAt == nil {
		if err := c.Begin(ctx); err != nil {
			return nil, err
		}
	}
	receipt, err := fn(ctx, c)
	if err != nil {
		return nil, err
	}
	text := receiptText(receipt)
	return json.RawMessage(text), c.finish(ctx, text)
}

// isPool tells a DB, sqlx or not, from a Conn and a Tx.
func isPool(q jobs.Querier) bool {
	_, pool := q.(interface{ SetMaxOpenConns(int) })
	return pool || q == nil
}
