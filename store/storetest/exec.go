package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
)

// Pool is what connections come from: a *sql.DB, a *sqlx.DB or a *store.DB.
type Pool interface {
	Conn(context.Context) (*sql.Conn, error)
}

// Exec runs statements one after the other on one connection, outside of
// transactions, as settings of a server need it. A pool could run one of them twice:
// when a connection dies after the work, it tries again on another.
func Exec(t testing.TB, pool Pool, statements ...string) {
	t.Helper()
	if err := execOnce(t.Context(), pool, statements...); err != nil {
		t.Fatal(err)
	}
}

func execOnce(ctx context.Context, pool Pool, statements ...string) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, text := range statements {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%w in %s", err, text)
		}
	}
	return nil
}
