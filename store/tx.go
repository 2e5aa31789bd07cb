package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// ErrUnknownOutcome: the connection died between sending COMMIT and its reply,
// so the transaction may or may not have happened. Ask by id or token.
var ErrUnknownOutcome = errors.New("outcome unknown: the reply to commit was lost")

// Tx runs fn in one transaction of isolation level read committed, whatever the
// database's default, and commits when fn returns nil. When fn fails or panics
// everything is rolled back. ErrUnknownOutcome is the only error after which
// the work may have been done.
func (db *DB) Tx(ctx context.Context, fn func(*sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() // no-op after a commit; also runs when fn panics
	if err := fn(tx); err != nil {
		return err
	}
	return commitError(tx.Commit())
}

// commitError tells a refused commit from one whose reply was lost.
func commitError(err error) error {
	if err == nil {
		return nil
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
