package bookstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
)

// tables are the bookshop's own, in a schema of its own beside Tekrar's: what a
// program that uses Tekrar has anyway.
type tables struct{ db *jobs.DB }

// schema is created at the start of each demo. The lock is for demos that start at
// once on one database: "if not exists" alone fails there.
const schema = `
select pg_advisory_xact_lock(hashtextextended('bookstore.schema', 0));
create schema if not exists bookstore;
create table if not exists bookstore.outgoing_emails (
    id                  bigint generated always as identity primary key,
    idempotency_key     text not null unique,
    status              text not null check (status in ('sending', 'sent')),
    claimed_at          timestamptz not null default clock_timestamp(),
    provider_message_id text
);
create table if not exists bookstore.stock (
    book     text primary key,
    quantity integer not null
);
create table if not exists bookstore.stock_movements (
    id     text primary key,
    book   text not null,
    change integer not null,
    at     timestamptz not null default clock_timestamp()
);
create table if not exists bookstore.scenario_runs (
    job_id  bigint primary key,
    at      timestamptz not null default clock_timestamp(),
    card    text not null,
    verdict text not null,
    as_told boolean not null
);
create sequence if not exists bookstore.invoice_numbers start 4711;
`

func (t tables) create(ctx context.Context) error {
	if err := t.write(ctx, schema); err != nil {
		return fmt.Errorf("create the bookstore's tables: %w", err)
	}
	return nil
}

func (t tables) write(ctx context.Context, text string, args ...any) error {
	_, err := t.changed(ctx, text, args...)
	return err
}

// changed runs one statement in a transaction and reports whether it changed a row.
func (t tables) changed(ctx context.Context, text string, args ...any) (changed bool, err error) {
	err = t.db.Tx(ctx, func(tx *sqlx.Tx) error {
		r, err := tx.ExecContext(ctx, text, args...)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}

// nextInvoice is a number that no scenario has used.
func (t tables) nextInvoice(ctx context.Context) (n int64, err error) {
	err = t.db.Tx(ctx, func(tx *sqlx.Tx) error {
		return tx.GetContext(ctx, &n, `select nextval('bookstore.invoice_numbers')`)
	})
	return n, err
}

// alone runs do unless another demo process on this database is at it.
func (t tables) alone(ctx context.Context, do func() error) (ran bool, err error) {
	conn, err := t.db.Connx(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	const key = `hashtextextended('bookstore.lab', 0)`
	if err := conn.GetContext(ctx, &ran, `select pg_try_advisory_lock(`+key+`)`); err != nil || !ran {
		return false, err
	}
	defer func() {
		var gone bool
		err = errors.Join(err, conn.GetContext(context.WithoutCancel(ctx), &gone, `select pg_advisory_unlock(`+key+`)`))
	}()
	return true, do()
}

// rowExists asks for one row.
func (t tables) rowExists(ctx context.Context, text string, args ...any) (bool, error) {
	var one int
	err := t.db.GetContext(ctx, &one, text, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
