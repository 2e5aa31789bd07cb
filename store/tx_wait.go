package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// ErrLocked: another transaction held a row for longer than the wait; nothing was done.
var ErrLocked = errors.New("another transaction holds it")

// TxWait is Tx that gives up with ErrLocked when one of its statements waits for
// another transaction for longer than wait, rounded up to milliseconds.
func (db *DB) TxWait(ctx context.Context, wait time.Duration, fn func(*sqlx.Tx) error) error {
	err := db.Tx(ctx, func(tx *sqlx.Tx) error {
		ms := max(1, (wait+time.Millisecond-1)/time.Millisecond)
		if _, err := tx.ExecContext(ctx, `select set_config('lock_timeout', $1, true)`, fmt.Sprintf("%dms", ms)); err != nil {
			return fmt.Errorf("set lock timeout: %w", err)
		}
		return fn(tx)
	})
	if pe, ok := errors.AsType[*pq.Error](err); ok && pe.Code == "55P03" {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return err
}
