package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// txRetry runs a whole transaction again when the server ended it for a reason
// that passes (deadlock, serialisation, a connection that broke before the
// commit). An unknown outcome is not run again: the work may have been done.
func (db *DB) txRetry(ctx context.Context, fn func(*sqlx.Tx) error) error {
	return db.txRetryOn(ctx, IsRetryable, fn)
}

// txRetryOn is txRetry for some of these reasons only.
func (db *DB) txRetryOn(ctx context.Context, again func(error) bool, fn func(*sqlx.Tx) error) error {
	var err error
	for range 4 {
		err = db.Tx(ctx, db.briefly(ctx, fn))
		if err == nil || errors.Is(err, ErrUnknownOutcome) || !again(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// isConflict reports that another transaction was in the way, and nothing else is wrong.
func isConflict(err error) bool {
	pe, ok := errors.AsType[*pq.Error](err)
	return ok && (pe.Code == "40001" || pe.Code == "40P01" || pe.Code == "55P03")
}

// standstill is how long the engine's own transactions may stand still between two
// statements.
const standstill = 2 * time.Second

// briefly is fn for a transaction whose locks others wait for or pass over. A
// process that is frozen in the middle, or whose network is gone, would keep them
// for as long as its session lives: nobody could take over the jobs that it was
// about to take over itself. So the server ends the session, and the next to ask
// gets the locks.
func (db *DB) briefly(ctx context.Context, fn func(*sqlx.Tx) error) func(*sqlx.Tx) error {
	return func(tx *sqlx.Tx) error {
		// Without a parameter it is one message of the simple protocol.
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", db.still.Milliseconds())); err != nil {
			return err
		}
		return fn(tx)
	}
}

// reach is a pause point: a race is proven by stopping one side here.
func (db *DB) reach(point string) {
	if db.pause != nil {
		db.pause(point)
	}
}
