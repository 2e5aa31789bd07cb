package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// BulkState is how far a bulk operation is.
type BulkState int16

// The states of a bulk operation.
const (
	BulkRunning BulkState = 1
	BulkDone    BulkState = 2
	BulkStopped BulkState = 3 // by a person
	BulkFailed  BulkState = 4 // given up after an error; it can be continued
)

// bulkFrom says from which states an action takes jobs.
var bulkFrom = map[string][]State{
	"requeue": {Scheduled, Awaiting, Failed, Succeeded, Deleted},
	"delete":  {Scheduled, Awaiting, Enqueued, Processing, Succeeded, Failed},
	"restore": {Deleted},
}

// Bulk is one requeue, deletion or restore of everything that a filter holds.
type Bulk struct {
	ID         int64      `db:"id"`
	CreatedAt  time.Time  `db:"created_at"`
	SeenAt     time.Time  `db:"seen_at"` // jobs that came into the list later are left alone
	BeatAt     time.Time  `db:"beat_at"` // when somebody last worked on it
	FinishedAt *time.Time `db:"finished_at"`
	StopAt     *time.Time `db:"stop_at"`
	State      BulkState  `db:"state"`
	Action     string     `db:"action"` // requeue, delete, restore
	Fresh      bool       `db:"fresh"`  // requeue with a fresh budget
	Actor      string     `db:"actor"`
	StoppedBy  string     `db:"stopped_by"`
	Expected   int64      `db:"expected"` // as its person was shown
	Done       int64      `db:"done"`
	Skipped    int64      `db:"skipped"` // moved by somebody else first
	Error      string     `db:"error"`
	// Filter as Jobs takes it, but for an undo, whose jobs are those of UndoOf.
	Filter   json.RawMessage `db:"filter"`
	UndoOf   *int64          `db:"undo_of"`
	UndoneBy *int64          `db:"undone_by"` // the operation that undid this one
	Now      time.Time       `db:"now"`
	place    string
}

const bulkColumns = `o.id, o.created_at, o.seen_at, o.beat_at, o.finished_at, o.stop_at, o.state, o.action, o.fresh, o.actor,
  coalesce(o.stopped_by, '') as stopped_by, o.expected, o.done, o.skipped, o.error, o.filter, o.undo_of,
  (select u.id from tekrar.bulk_operations u where u.undo_of = o.id) as undone_by, clock_timestamp() as now`

// Bulk reads one operation; ErrNotFound.
func (db *DB) Bulk(ctx context.Context, id int64) (b Bulk, err error) {
	err = db.GetContext(ctx, &b, db.sql(`select `+bulkColumns+` from tekrar.bulk_operations o where o.id = $1`), id)
	if isNoRows(err) {
		err = ErrNotFound
	}
	if err != nil {
		return b, fmt.Errorf("read bulk operation %d: %w", id, err)
	}
	return b, nil
}

// NewBulk is an operation to begin.
type NewBulk struct {
	Action   string // requeue, delete, restore
	Fresh    bool
	Filter   JobFilter
	SeenAt   time.Time // of the database's clock
	Expected int64
}

// BeginBulk writes down that actor wants this, in the operation and the audit. It
// moves no job: RunBulk does.
func (db *DB) BeginBulk(ctx context.Context, actor string, n NewBulk) (id int64, err error) {
	if err := n.Filter.check(); err != nil {
		return 0, err
	}
	err = db.txRetry(ctx, func(tx *sqlx.Tx) error {
		err := tx.GetContext(ctx, &id, db.sql(`insert into tekrar.bulk_operations (seen_at, expected, fresh, action, actor, filter)
values (least($1::timestamptz, clock_timestamp()), $2, $3, $4, $5, $6::text::jsonb) returning id`), n.SeenAt, n.Expected, n.Fresh, n.Action, actor, n.Filter.JSON())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, db.sql(auditBulk), actor, n.Action+" all", id, n.Filter.JSON(), n.Expected)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s all: %w", n.Action, err)
	}
	return id, nil
}

const auditBulk = `insert into tekrar.audit (actor, action, detail)
values ($1, $2, jsonb_build_object('bulk', $3::bigint, 'filter', $4::text::jsonb, 'n', $5::bigint))`

// BeginUndo begins to restore exactly the jobs that a bulk deletion deleted and
// that nobody moved since. ErrNotFound; ErrStateChanged when it is no deletion,
// still runs, or is undone already.
func (db *DB) BeginUndo(ctx context.Context, actor string, of int64) (id int64, err error) {
	err = db.txRetry(ctx, func(tx *sqlx.Tx) error {
		var b struct {
			State  BulkState `db:"state"`
			Action string    `db:"action"`
			Done   int64     `db:"done"`
			Filter []byte    `db:"filter"`
		}
		err := tx.GetContext(ctx, &b, db.sql(`select state, action, done, filter from tekrar.bulk_operations where id = $1 for update`), of)
		switch {
		case isNoRows(err):
			return ErrNotFound
		case err != nil:
			return err
		case b.Action != "delete" || b.State == BulkRunning:
			return ErrStateChanged
		}
		err = tx.GetContext(ctx, &id, db.sql(`insert into tekrar.bulk_operations (seen_at, expected, action, actor, filter, undo_of)
values (clock_timestamp(), $1, 'restore', $2, $3::text::jsonb, $4) on conflict do nothing returning id`), b.Done, actor, string(b.Filter), of)
		if isNoRows(err) {
			return ErrStateChanged
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, db.sql(auditBulk), actor, "undo delete all", id, string(b.Filter), b.Done)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("undo bulk operation %d: %w", of, err)
	}
	return id, nil
}

// StopBulk asks a running operation to end after its present chunk. What it did
// stays. ErrStateChanged when it runs no more.
func (db *DB) StopBulk(ctx context.Context, actor string, id int64) error {
	return db.changeBulk(ctx, "stop bulk", actor, id, `update tekrar.bulk_operations set stop_at = coalesce(stop_at, clock_timestamp()), stopped_by = coalesce(stopped_by, $2)
where id = $1 and state = 1`)
}

// ContinueBulk lets an operation that was stopped or given up go on.
func (db *DB) ContinueBulk(ctx context.Context, actor string, id int64) error {
	return db.changeBulk(ctx, "continue bulk", actor, id, `update tekrar.bulk_operations
set state = 1, stop_at = null, stopped_by = null, finished_at = null, error = '', runner = null
where id = $1 and $2::text is not null and (state in (3, 4) or state = 1 and beat_at < clock_timestamp() - interval '15 seconds')
  and not exists (select 1 from tekrar.bulk_operations u where u.undo_of = $1)`)
}

func (db *DB) changeBulk(ctx context.Context, action, actor string, id int64, text string) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		changed, err := tx.ExecContext(ctx, db.sql(text), id, actor)
		if err != nil {
			return err
		}
		if n, err := changed.RowsAffected(); n == 0 || err != nil {
			if err == nil {
				err = ErrStateChanged
			}
			return err
		}
		_, err = tx.ExecContext(ctx, db.sql(`insert into tekrar.audit (actor, action, detail) values ($1, $2, jsonb_build_object('bulk', $3::bigint))`), actor, action, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s operation %d: %w", action, id, err)
	}
	return nil
}

// IdleBulks are running operations that nobody worked on for a while: their
// process is gone.
func (db *DB) IdleBulks(ctx context.Context) (ids []int64, err error) {
	err = db.SelectContext(ctx, &ids, db.sql(`select id from tekrar.bulk_operations
where state = 1 and beat_at < clock_timestamp() - interval '15 seconds' order by beat_at limit 20`))
	if err != nil {
		return nil, fmt.Errorf("list idle bulk operations: %w", err)
	}
	return ids, nil
}

// PruneBulks removes operations that ended longer ago than keep, with their lists.
func (db *DB) PruneBulks(ctx context.Context, keep time.Duration) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		var ids []int64
		if err := tx.SelectContext(ctx, &ids, db.sql(`select id from tekrar.bulk_operations
where finished_at < clock_timestamp() - $1::bigint * interval '1 microsecond' and state <> 1 order by id limit 100`), keep.Microseconds()); err != nil || len(ids) == 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, db.sql(`delete from tekrar.bulk_jobs where bulk_id = any($1)`), pq.Array(ids)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, db.sql(`delete from tekrar.bulk_operations where id = any($1)`), pq.Array(ids))
		return err
	})
	if err != nil {
		return fmt.Errorf("prune bulk operations: %w", err)
	}
	return nil
}
