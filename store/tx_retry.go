package store

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

// txRetry runs a whole transaction again when the server ended it for a reason
// that passes (deadlock, serialisation, a connection that broke before the
// commit). An unknown outcome is not run again: the work may have been done.
func (db *DB) txRetry(ctx context.Context, fn func(*sqlx.Tx) error) error {
	var err error
	for range 4 {
		err = db.Tx(ctx, fn)
		if err == nil || errors.Is(err, ErrUnknownOutcome) || !IsRetryable(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// reach is a pause point: a race is proven by stopping one side here.
func (db *DB) reach(point string) {
	if db.pause != nil {
		db.pause(point)
	}
}
