package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Busy reports whether any job is enqueued or processing.
func (db *DB) Busy(ctx context.Context) (busy bool, err error) {
	err = db.GetContext(ctx, &busy, db.sql(`select exists (select 1 from tekrar.ready) or exists (select 1 from tekrar.running)`))
	return busy, err
}

// LogPosition is how many bytes of write-ahead log the server has written.
func (db *DB) LogPosition(ctx context.Context) (n int64, err error) {
	err = db.GetContext(ctx, &n, `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`)
	return n, err
}

// Size is the disk space of the schema's tables and indexes in bytes.
func (db *DB) Size(ctx context.Context) (n int64, err error) {
	err = db.GetContext(ctx, &n, `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`, db.Schema())
	return n, err
}

// HotSize is the disk space in bytes of the tables whose rows come and go with every
// job, indexes included.
func (db *DB) HotSize(ctx context.Context) (n int64, err error) {
	err = db.GetContext(ctx, &n, `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relname in ('ready', 'running', 'scheduled')`, db.Schema())
	return n, err
}

// DropSchema removes the schema with all jobs and their history.
func (db *DB) DropSchema(ctx context.Context) error {
	return db.Tx(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, "drop schema "+db.quoted+" cascade"); err != nil {
			return fmt.Errorf("drop schema: %w", err)
		}
		return nil
	})
}

// DSN is the address that Open was given.
func (db *DB) DSN() string { return db.dsn }

// Hold opens a transaction whose snapshot stays open until release, as a long
// report or a forgotten session would.
func (db *DB) Hold(ctx context.Context) (release func(), err error) {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, fmt.Errorf("hold a snapshot: %w", err)
	}
	var n int64
	if err := tx.GetContext(ctx, &n, db.sql(`select count(*) from (select 1 from tekrar.jobs limit 1) j`)); err != nil {
		_ = tx.Rollback()
		return nil, fmt.Errorf("hold a snapshot: %w", err)
	}
	return func() { _ = tx.Rollback() }, nil
}
