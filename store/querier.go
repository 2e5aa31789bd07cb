package store

import (
	"context"
	"database/sql"
)

// Querier is what statements run on: *sql.DB, *sql.Conn, *sql.Tx and their sqlx
// twins all have it. Writes never go to a pool (a *DB): database/sql may run an
// autocommit statement twice when a connection dies after execution.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
