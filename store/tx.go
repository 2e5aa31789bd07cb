package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// ErrUnknownOutcome: the connection died, or the context ended, between sending
// COMMIT and its reply, so the transaction may or may not have happened. Ask by id
// or token.
var ErrUnknownOutcome = errors.New("outcome unknown: the reply to commit was lost or came too late")

// Tx runs fn in one transaction of isolation level read committed, whatever the
// database's default, and commits when fn returns nil. When fn fails or panics
// everything is rolled back. ErrUnknownOutcome is the only error after which
// the work may have been done.
func (db *DB) Tx(ctx context.Context, fn func(*sqlx.Tx) error) error {
	err := db.tx(ctx, fn)
	if IsReadOnly(err) {
		db.leaveReadOnly(ctx)
	}
	return err
}

func (db *DB) tx(ctx context.Context, fn func(*sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() // no-op after a commit; also runs when fn panics
	if _, err := tx.ExecContext(ctx, asDefault); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := fn(tx); err != nil {
		return err
	}
	return commitError(ctx, tx.Commit())
}

// asDefault takes "read write" back, which lib/pq says with every begin: a primary that
// is made read-only for a switchover would take our transactions and refuse the rest, so
// that servers find each other lost while none can renew its lease.
const asDefault = `select set_config('transaction_read_only', current_setting('default_transaction_read_only'), true)`

// answered distrusts a success that came after the end of ctx: lib/pq asks the server
// then to cancel, which ends the wait of a commit for its synchronous standby, and the
// server reports success although a failover would lose it.
func answered(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return nil
}

// commitError tells a refused commit from one whose outcome is unknown.
func commitError(ctx context.Context, err error) error {
	if err == nil {
		return answered(ctx)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone) {
		// database/sql looks at the context before it sends COMMIT.
		return fmt.Errorf("commit: %w", err)
	}
	if pe, ok := errors.AsType[*pq.Error](err); ok && pe.Code.Class() != "08" && pe.Code.Class() != "57" {
		return fmt.Errorf("commit: %w", err)
	}
	if errors.Is(err, pq.ErrInFailedTransaction) {
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}
