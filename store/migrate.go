package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/tekrar/tekrar/migrations"
)

// Migration is one step of the schema.
type Migration struct {
	Version   int64
	Name      string     // file name, empty when only the database knows the step
	AppliedAt *time.Time // nil: not applied
}

// Migrate brings the schema to the version of this program and creates it where
// there is none. Any number of processes may do so at once: one works, the
// others wait up to five minutes for it. Programs may run meanwhile: a step that
// meets a table in use gives up after two seconds, so that those behind it are not
// kept, and tries again for five minutes. A database that a newer program has
// migrated is left alone; see CheckSchema.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.CheckVersion(ctx); err != nil {
		return err
	}
	if err := db.CheckSchema(ctx); err == nil || errors.Is(err, ErrSchemaTooNew) {
		return err
	}
	if pooled(db.cfg) {
		return errPooledMigration
	}
	pool, err := db.migrationPool()
	if err != nil {
		return err
	}
	defer pool.Close()
	session, err := lock.NewPostgresSessionLocker(lock.WithLockID(db.migrationLock()), lock.WithLockTimeout(1, 300))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.FS,
		goose.WithSessionLocker(schemaLocker{session, db.quoted}),
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(db.opts.Logger))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// Up looks for pending steps before it takes the lock, which needs the
	// version table; Status creates that (and the schema) under the lock.
	if _, err := p.Status(ctx); err != nil {
		return fmt.Errorf("migrate schema %s: %w", db.quoted, err)
	}
	if err := db.up(ctx, p); err != nil {
		return fmt.Errorf("migrate schema %s: %w", db.quoted, err)
	}
	return db.CheckSchema(ctx)
}

const (
	// stepWait bounds how long a step waits for a table: whoever comes after it waits
	// behind it, claims and enqueues included.
	stepWait  = 2 * time.Second
	stepAgain = time.Second
	stepTries = 100 // five minutes
)

// up makes the pending steps; one that a table in use holds up is made later.
func (db *DB) up(ctx context.Context, p *goose.Provider) error {
	for n := 1; ; n++ {
		_, err := p.Up(ctx)
		if pe, ok := errors.AsType[*pq.Error](err); !ok || pe.Code != "55P03" || n == stepTries {
			return err
		}
		if n == 1 {
			db.opts.Logger.Warn("a migration waits for a table that another transaction uses; trying again", "error", err)
		}
		select {
		case <-time.After(stepAgain):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// migrationPool has no statement timeout, no planner settings and no read
// deadline: building an index on a large table is silent for minutes.
func (db *DB) migrationPool() (*sql.DB, error) {
	o := db.opts
	o.ReadTimeout = 0
	c, err := newConnector(db.cfg, newDialer(o), []string{
		"set search_path = " + db.quoted,
		"set statement_timeout = 0",
		fmt.Sprintf("set lock_timeout = %d", stepWait.Milliseconds()),
		"set idle_in_transaction_session_timeout = 0",
		"set default_transaction_isolation = 'read committed'",
		// goose keeps times without zone; appliedSteps reads them as UTC.
		"set timezone = 'UTC'",
	}, db.opts.Logger)
	if err != nil {
		return nil, err
	}
	c.must = true
	pool := sql.OpenDB(c)
	pool.SetMaxOpenConns(1)
	return pool, nil
}

// migrationLock differs between schemas of one database; between databases the
// server tells locks apart.
func (db *DB) migrationLock() int64 {
	return 1<<40 | int64(crc32.ChecksumIEEE([]byte("tekrar migrate "+db.opts.Schema)))
}

// schemaLocker creates the schema once it holds the lock: "create schema if not
// exists" fails when two sessions run it at once.
type schemaLocker struct {
	lock.SessionLocker
	quoted string
}

func (l schemaLocker) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := l.SessionLocker.SessionLock(ctx, conn); err != nil {
		return err
	}
	if err := l.createSchema(ctx, conn); err != nil {
		return errors.Join(err, l.SessionUnlock(context.WithoutCancel(ctx), conn))
	}
	return nil
}

func (l schemaLocker) createSchema(ctx context.Context, conn *sql.Conn) error {
	// Asked first, since a role without the right to create schemas may well
	// own one that an administrator made for it.
	var exists bool
	err := conn.QueryRowContext(ctx, `select to_regnamespace($1) is not null`, l.quoted).Scan(&exists)
	if err != nil || exists {
		return err
	}
	_, err = conn.ExecContext(ctx, "create schema if not exists "+l.quoted)
	if pe, ok := errors.AsType[*pq.Error](err); ok && (pe.Code == "23505" || pe.Code == "42P06") {
		return nil // somebody without our lock was faster
	}
	if err != nil {
		return fmt.Errorf("create schema: %w", err)
	}
	return nil
}

// stepName turns "00001_schema.sql" into what screens show.
func stepName(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".sql")
}
