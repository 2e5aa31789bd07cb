package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

const (
	// Of two first declarations at once the second waits here, and then finds the
	// row of the first.
	lockRecurring = `select pg_advisory_xact_lock(hashtext('tekrar.recurring'), hashtext($1))`

	readRecurring = `select ` + recurringColumns + ` from tekrar.recurring r where r.id = $1 for update`

	writeRecurring = `insert into tekrar.recurring (id, kind, queue, priority, args, spec, zone, misfire, overlap, policy, timeout_ms,
  start_at, end_at, next_run, paused_at, paused_by, removed_at, declared, definition, failures, warning, error, created_at, updated_at)
values ($1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $9, nullif($10, '')::jsonb, $11, $12, $13, $14, $15, nullif($16, ''), $17, $18, $19, $20, $21, $22, $23, $24)
on conflict (id) do update set kind = excluded.kind, queue = excluded.queue, priority = excluded.priority, args = excluded.args,
  spec = excluded.spec, zone = excluded.zone, misfire = excluded.misfire, overlap = excluded.overlap, policy = excluded.policy,
  timeout_ms = excluded.timeout_ms, start_at = excluded.start_at, end_at = excluded.end_at, next_run = excluded.next_run,
  paused_at = excluded.paused_at, paused_by = excluded.paused_by, removed_at = excluded.removed_at, declared = excluded.declared,
  definition = excluded.definition, failures = excluded.failures, warning = excluded.warning, error = excluded.error,
  updated_at = excluded.updated_at`

	auditRecurring = `insert into tekrar.audit (actor, action, detail)
values ($1, $2, jsonb_build_object('recurring', $3::text, 'kind', $4::text, 'spec', $5::text, 'zone', $6::text))`
)

// EditRecurring locks a recurring job, gives it to change (nil when there is
// none) with the database's now, and writes what change returns, nil for
// nothing. actor, if not empty, goes to the audit with the action. Schedulers
// everywhere are woken.
func (db *DB) EditRecurring(ctx context.Context, actor, action, id string, change func(now time.Time, old *RecurringRow) (*RecurringRow, error)) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, db.sql(lockRecurring), id); err != nil {
			return err
		}
		old, now, err := db.lockedRecurring(ctx, tx, id)
		if err != nil {
			return err
		}
		r, err := change(now, old)
		if err != nil || r == nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, db.sql(writeRecurring), r.ID, r.Kind, r.Queue, r.Priority, string(r.Args), r.Spec, r.Zone,
			r.Misfire, r.Overlap, string(r.Policy), r.TimeoutMS, r.StartAt, r.EndAt, r.NextRun, r.PausedAt, r.PausedBy, r.RemovedAt,
			r.Declared, r.Definition, r.Failures, r.Warning, r.Error, r.CreatedAt, now); err != nil {
			return err
		}
		if actor != "" {
			if _, err := tx.ExecContext(ctx, db.sql(auditRecurring), actor, action, r.ID, r.Kind, r.Spec, r.Zone); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, notifyStatement, db.jobsChannel(), pq.Array([]string{"r"}))
		return err
	})
	if err != nil {
		return fmt.Errorf("%s %q: %w", action, id, err)
	}
	return nil
}

// lockedRecurring gives nil when there is no such row.
func (db *DB) lockedRecurring(ctx context.Context, q Querier, id string) (*RecurringRow, time.Time, error) {
	rows, err := q.QueryContext(ctx, db.sql(readRecurring), id)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer rows.Close()
	var found []RecurringRow
	if err := sqlx.StructScan(rows, &found); err != nil {
		return nil, time.Time{}, err
	}
	var now time.Time
	if err := q.QueryRowContext(ctx, `select clock_timestamp()`).Scan(&now); err != nil || len(found) == 0 {
		return nil, now.UTC(), err
	}
	found[0].normal()
	return &found[0], now.UTC(), nil
}
