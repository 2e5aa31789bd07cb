package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// bulkChunk is how many jobs one transaction of an operation moves: few enough to
// hold its locks for milliseconds.
const bulkChunk = 500

// The moves of an operation: one audit row stands for all of its jobs, and history
// names it. $6 the operation; of a requeue $6 fresh, $7 the operation.
var bulkMoves = map[string]string{
	"requeue": transition(bulkHead("select 1")+moved("taken", map[string]string{
		"state": "2::smallint", "retry": "case when $6 then 0 else s.retry end", "losses": "0::smallint", "snoozes": "0",
		"actor": "$3", "reason": "'Requeued by ' || $3",
		"data": "jsonb_build_object('fresh_budget', $6::boolean, 'bulk', $7::bigint)",
	}), toReady, moveFinal),
	"restore": transition(bulkHead("select 1")+moved("taken", map[string]string{
		"state": "2::smallint", "actor": "$3", "reason": "'Restored by ' || $3", "data": "jsonb_build_object('bulk', $6::bigint)",
	}), toReady, moveFinal),
	"delete": transition(bulkHead("insert into tekrar.bulk_jobs (bulk_id, job_id) select $6::bigint, job_id from taken on conflict do nothing")+
		moved("taken", map[string]string{
			"state": "6::smallint", "actor": "$3", "reason": "'Deleted by ' || $3", "data": "jsonb_build_object('bulk', $6::bigint)",
		}), 0, moveFinal),
}

func bulkHead(keep string) string { return strings.Replace(moveHead, moveAudit, keep, 1) }

// BulkStep is what one call of RunBulk did.
type BulkStep struct {
	Moved []int64
	Bulk  Bulk // as it is after it
}

// RunBulk does the next chunk of an operation in the name of runner, a token that
// is different in each process. ErrLeaseLost: another one works on it.
func (db *DB) RunBulk(ctx context.Context, runner string, id int64) (step BulkStep, err error) {
	b, err := db.takeBulk(ctx, runner, id)
	if err != nil || b.State != BulkRunning {
		return BulkStep{Bulk: b}, err
	}
	targets, next, done, err := db.bulkTargets(ctx, b)
	if err == nil {
		step, err = db.bulkMove(ctx, runner, b, targets, next, done)
	}
	if err != nil {
		return step, fmt.Errorf("bulk operation %d: %w", id, err)
	}
	return step, nil
}

// takeBulk renews the runner's hold, and ends an operation that is to stop.
func (db *DB) takeBulk(ctx context.Context, runner string, id int64) (b Bulk, err error) {
	err = db.txRetry(ctx, func(tx *sqlx.Tx) error {
		row := tx.QueryRowxContext(ctx, db.sql(`update tekrar.bulk_operations o set runner = $2, beat_at = clock_timestamp(),
  state = case when stop_at is null then 1 else 3 end, finished_at = case when stop_at is not null then clock_timestamp() end
where id = $1 and state = 1 and (runner is null or runner = $2 or beat_at < clock_timestamp() - interval '15 seconds')
returning place`), id, runner)
		err := row.Scan(&b.place)
		if isNoRows(err) {
			return ErrLeaseLost
		}
		return err
	})
	if err != nil {
		return b, fmt.Errorf("take bulk operation %d: %w", id, err)
	}
	at := b.place
	b, err = db.Bulk(ctx, id)
	b.place = at
	return b, err
}

// bulkTargets are the next jobs of an operation, and where it will stand then.
func (db *DB) bulkTargets(ctx context.Context, b Bulk) (ids []int64, next string, done bool, err error) {
	if b.UndoOf != nil {
		return db.undoTargets(ctx, b)
	}
	f, err := ParseFilter(b.Filter)
	if err != nil {
		return nil, "", false, err
	}
	f.AsOf = b.SeenAt
	if byState, named, err := db.named(ctx, f); named || err != nil {
		return byState[f.State], "", true, err
	}
	if f.After, err = ParseCursor(b.place); err != nil {
		return nil, "", false, err
	}
	at, id, err := f.After.after(f.State)
	if err != nil {
		return nil, "", false, err
	}
	end, done, err := db.walk(ctx, f, place{at, id}, 10*time.Second, func(c candidate) bool {
		if c.Listed && !c.Since.After(b.SeenAt) {
			ids = append(ids, c.JobID)
		}
		return len(ids) < bulkChunk
	})
	return ids, end.cursor(f.State).String(), done, err
}

// undoTargets are jobs that the operation deleted last, and nobody since.
func (db *DB) undoTargets(ctx context.Context, b Bulk) (ids []int64, next string, done bool, err error) {
	after := int64(0)
	if b.place != "" {
		if after, err = strconv.ParseInt(b.place, 10, 64); err != nil {
			return nil, "", false, err
		}
	}
	var rows []struct {
		JobID int64 `db:"job_id"`
		Still bool  `db:"still"`
	}
	err = db.SelectContext(ctx, &rows, db.sql(`select j.job_id, coalesce((
    select h.state = 6 and h.data ->> 'bulk' = $1::bigint::text from tekrar.history h
    where h.job_id = j.job_id and h.state <= 6 order by h.id desc limit 1), false) as still
from tekrar.bulk_jobs j where j.bulk_id = $1 and j.job_id > $2 order by j.job_id limit $3`), *b.UndoOf, after, bulkChunk)
	for _, r := range rows {
		if after = r.JobID; r.Still {
			ids = append(ids, r.JobID)
		}
	}
	return ids, strconv.FormatInt(after, 10), len(rows) < bulkChunk, err
}

// bulkMove moves a chunk and counts it, or neither.
func (db *DB) bulkMove(ctx context.Context, runner string, b Bulk, ids []int64, next string, done bool) (step BulkStep, err error) {
	state := Deleted
	if b.UndoOf == nil {
		f, err := ParseFilter(b.Filter)
		if err != nil {
			return step, err
		}
		state = f.State
	}
	if !slices.Contains(bulkFrom[b.Action], state) {
		return step, fmt.Errorf("cannot %s %s jobs", b.Action, state)
	}
	expected := make([]int64, len(ids))
	for i := range expected {
		expected[i] = int64(state)
	}
	slices.Sort(ids)
	args := []any{b.ID}
	if b.Action == "requeue" {
		args = []any{b.Fresh, b.ID}
	}
	err = db.txRetry(ctx, func(tx *sqlx.Tx) error {
		step.Moved = step.Moved[:0]
		if len(ids) > 0 {
			moved, err := db.moveIn(ctx, tx, bulkMoves[b.Action], b.Action, b.Actor, ids, expected, args...)
			if err != nil {
				return err
			}
			for id := range moved {
				step.Moved = append(step.Moved, id)
			}
		}
		n := len(step.Moved)
		kept, err := tx.ExecContext(ctx, db.sql(`update tekrar.bulk_operations set beat_at = clock_timestamp(), done = done + $3, skipped = skipped + $4, place = $5,
  state = case when $6 then 2 else 1 end, finished_at = case when $6 then clock_timestamp() end
where id = $1 and runner = $2 and state = 1`), b.ID, runner, n, len(ids)-n, next, done)
		if err != nil {
			return err
		}
		if n, err := kept.RowsAffected(); n != 1 || err != nil {
			return fmt.Errorf("%w: %v", ErrLeaseLost, err)
		}
		return nil
	})
	if err != nil {
		return BulkStep{}, err
	}
	step.Bulk, err = db.Bulk(ctx, b.ID)
	return step, err
}

// FailBulk gives an operation up; text says why, for its page.
func (db *DB) FailBulk(ctx context.Context, runner string, id int64, text string) error {
	return db.txRetry(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, db.sql(`update tekrar.bulk_operations set state = 4, finished_at = clock_timestamp(), error = $3
where id = $1 and runner = $2 and state = 1`), id, runner, text)
		return err
	})
}
