package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// Once is DoTx in a transaction of its own, for callers outside of a job, such as a
// handler of requests that carry a key: what fn writes in tx, the claim and its
// receipt commit together. replayed: they had before; receipt is that one.
//
// While another call with the key has not committed, it waits, at most for wait;
// then it is a BusyError. Other content than before is a MismatchError (see
// Content). An error that is a store.ErrUnknownOutcome says that the commit may have
// happened: call again with the same key and see.
func (c *Claims) Once(ctx context.Context, key Key, wait time.Duration, fn func(ctx context.Context, tx jobs.Querier) (receipt any, err error), opts ...Option) (receipt json.RawMessage, replayed bool, err error) {
	replayed = true
	err = c.db.TxWait(ctx, wait, func(tx *sqlx.Tx) error {
		var err error
		receipt, err = c.DoTx(ctx, tx, key, func(ctx context.Context, _ *Claim) (any, error) {
			replayed = false
			return fn(ctx, tx)
		}, opts...)
		return err
	})
	if errors.Is(err, store.ErrLocked) {
		again := max(wait, minBusy)
		return nil, false, &BusyError{Key: key.String(), Holder: Holder{Name: "another call"}, Until: time.Now().Add(again), wait: again}
	}
	if err != nil {
		return nil, false, err
	}
	return receipt, replayed, nil
}
