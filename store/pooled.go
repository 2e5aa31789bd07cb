package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

// pooled reports that the address leads through a pooler in transaction mode: each
// transaction may run on another session of the server. A prepared statement would
// be missing there, or be one of somebody else's under the same name, and what is set
// on a session would stay with whoever gets it next. An address says so by
// binary_parameters=yes, which lib/pq needs there anyway: without it parameters take
// two round trips, and the pooler may change the session between them.
func pooled(cfg pq.Config) bool { return cfg.BinaryParameters }

var errPooledMigration = errors.New("migrate: the address says binary_parameters=yes and so leads through a pooler, " +
	"which keeps no session lock: migrate over a direct address")

// ErrPooled: the address leads through a pooler in transaction mode and does not say so.
var ErrPooled = errors.New("the database address leads through a connection pooler in transaction mode: add binary_parameters=yes to it " +
	"(see store.Open), or give a direct address")

// CheckPooler looks for a pooler that the address does not tell of: two connections
// that are open at once never share a session of the server, unless one stands
// between. It finds a pooler that is idle; one that is busy may stay unseen.
func (db *DB) CheckPooler(ctx context.Context) error {
	if pooled(db.cfg) {
		return nil
	}
	var pids [2]int64
	var conns [2]*sql.Conn
	for i := range conns {
		conn, err := db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("look for a pooler: %w", err)
		}
		defer conn.Close()
		conns[i] = conn
	}
	for range 3 {
		for i, conn := range conns {
			// Without a parameter it is one message of the simple protocol.
			if err := conn.QueryRowContext(ctx, `select pg_backend_pid()`).Scan(&pids[i]); err != nil {
				return fmt.Errorf("look for a pooler: %w", err)
			}
		}
		if pids[0] == pids[1] {
			return ErrPooled
		}
	}
	return nil
}

// localSettings are settings of connections as settings of one transaction, which is
// all that a pooler keeps together. The isolation level comes with the begin.
func localSettings(sets []string) string {
	var local []string
	for _, s := range sets {
		if !strings.Contains(s, isolation) {
			local = append(local, strings.Replace(s, "set ", "set local ", 1))
		}
	}
	return strings.Join(append(local, asDefault), "; ")
}

// runPooled is run through a pooler: a transaction of its own with the settings in
// front. Rows are handed on before the commit; callers use them only without an error.
func (s *session) runPooled(ctx context.Context, text string, scan func(*sql.Rows) error, args ...any) error {
	tx, err := s.conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() // no-op after a commit; also runs when scan panics
	// Without a parameter it is one message of the simple protocol.
	if _, err := tx.ExecContext(ctx, s.local); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if err := scanAll(rows, scan); err != nil {
		return err
	}
	return commitError(ctx, tx.Commit())
}

// selectAs is Select on the general pool, with the settings of our connections also
// through a pooler: text that differs from query to query has no plan that was
// looked at, and to compile one (jit) took a second.
func (db *DB) selectAs(ctx context.Context, rows any, text string, args ...any) error {
	if db.local == "" {
		return db.SelectContext(ctx, rows, text, args...)
	}
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() // it wrote nothing
	if _, err := tx.ExecContext(ctx, db.local); err != nil {
		return err
	}
	return tx.SelectContext(ctx, rows, text, args...)
}
