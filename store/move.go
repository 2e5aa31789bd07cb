package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Target is a job and the state in which a person saw it.
type Target struct {
	ID       int64
	Expected State
}

// Moved is what became of a Target. Err is nil, ErrNotFound, or ErrStateChanged
// with the state in which the job is now.
type Moved struct {
	ID      int64
	Now     State
	Attempt int
	Queue   string
	Err     error
}

// A person's move takes the hot row away where the job was seen, if it is still
// there. Finished jobs have no hot row: the caller locks their jobs rows first,
// so that no two moves of one job pass the test of the last history row at once.
const moveHead = `last as materialized (
select i.job_id, i.expected, h.attempt, j.queue, j.kind, j.priority
from unnest($1::bigint[], $2::smallint[]) as i(job_id, expected)
cross join lateral (select queue, kind, priority from tekrar.jobs where id = i.job_id offset 0) j
cross join lateral (select state, attempt from tekrar.history where job_id = i.job_id and state <= 6 order by id desc limit 1) h
where h.state = i.expected
), from_ready as (
delete from tekrar.ready where job_id = any(array(select job_id from last where expected = 2))
returning job_id, attempt, retry, snoozes, losses, priority, queue, kind
), from_running as (
delete from tekrar.running where job_id = any(array(select job_id from last where expected = 3))
returning job_id, attempt, retry, snoozes, losses, priority, queue, kind
), from_scheduled as (
delete from tekrar.scheduled where job_id = any(array(select job_id from last where expected = 1))
returning job_id, attempt, retry, snoozes, losses, priority, queue, kind
), from_failed as (
delete from tekrar.failed where job_id = any(array(select job_id from last where expected = 5))
returning job_id, attempt, retry, snoozes, losses, priority, queue, kind
), from_awaiting as (
delete from tekrar.awaiting where job_id = any(array(select job_id from last where expected = -1))
returning job_id, 0 as attempt, 0 as retry, 0 as snoozes, 0::smallint as losses, priority, queue, kind
), taken as (
select * from from_awaiting union all select * from from_ready union all select * from from_running union all
select * from from_scheduled union all select * from from_failed union all
select job_id, attempt, 0, 0, 0::smallint, priority, queue, kind from last where expected in (4, 6)
), kept as (
` + moveAudit + `
), woken as (
select count(pg_notify($5, p)) as n from (
  select distinct 'q' || queue as p from taken where $4 <> 'delete' union all
  select 'c' where $4 = 'delete' and exists (select 1 from from_running)) w
), `

const moveAudit = `insert into tekrar.audit (actor, action, job_id, detail)
select $3, $4, t.job_id, jsonb_build_object('from', l.expected) from taken t join last l using (job_id)`

const moveFinal = `select m.job_id, m.state, m.attempt, m.queue, (select n from woken) from moved m`

var requeueStatement = transition(moveHead+moved("taken", map[string]string{
	"state":  "2::smallint",
	"retry":  "case when $6 then 0 else s.retry end",
	"losses": "0::smallint", "snoozes": "0",
	"actor":  "$3",
	"reason": "'Requeued by ' || $3",
	"data":   "jsonb_build_object('fresh_budget', $6::boolean)",
}), toReady, moveFinal)

var restoreStatement = transition(moveHead+moved("taken", map[string]string{
	"state": "2::smallint", "actor": "$3", "reason": "'Restored by ' || $3",
}), toReady, moveFinal)

var deleteStatement = transition(moveHead+moved("taken", map[string]string{
	"state": "6::smallint", "actor": "$3", "reason": "'Deleted by ' || $3",
}), 0, moveFinal)

// Requeue enqueues jobs again: scheduled, awaiting, failed, succeeded or deleted ones,
// each only if it is still in the expected state. fresh resets the retry
// counter; the loss counter is reset either way, so that a job which failed for
// its losses gets a run that counts.
func (db *DB) Requeue(ctx context.Context, actor string, fresh bool, targets []Target) ([]Moved, error) {
	return db.move(ctx, requeueStatement, "requeue", actor, targets, []State{Scheduled, Awaiting, Failed, Succeeded, Deleted}, fresh)
}

// Delete ends jobs of any state but deleted. The attempt that runs a processing
// one loses its token: it is cancelled, and its result is kept as late.
func (db *DB) Delete(ctx context.Context, actor string, targets []Target) ([]Moved, error) {
	return db.move(ctx, deleteStatement, "delete", actor, targets, []State{Scheduled, Awaiting, Enqueued, Processing, Succeeded, Failed})
}

// Restore enqueues deleted jobs again, within their retention.
func (db *DB) Restore(ctx context.Context, actor string, targets []Target) ([]Moved, error) {
	return db.move(ctx, restoreStatement, "restore", actor, targets, []State{Deleted})
}

func (db *DB) move(ctx context.Context, statement, action, actor string, targets []Target, from []State, extra ...any) ([]Moved, error) {
	var ids, expected []int64
	result := make([]Moved, len(targets))
	seen := make(map[int64]bool, len(targets))
	for i, t := range targets {
		result[i] = Moved{ID: t.ID, Err: ErrStateChanged}
		if slices.Contains(from, t.Expected) && !seen[t.ID] {
			seen[t.ID] = true
			ids, expected = append(ids, t.ID), append(expected, int64(t.Expected))
		}
	}
	var done map[int64]Moved
	err := db.txRetry(ctx, func(tx *sqlx.Tx) (err error) {
		done, err = db.moveIn(ctx, tx, statement, action, actor, ids, expected, extra...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s jobs: %w", action, err)
	}
	for i := range result {
		if m, ok := done[result[i].ID]; ok {
			result[i] = m
		}
	}
	return result, db.nowOf(ctx, result)
}

// moveIn moves the jobs that are still where they were seen, and says which.
func (db *DB) moveIn(ctx context.Context, tx *sqlx.Tx, statement, action, actor string, ids, expected []int64, extra ...any) (map[int64]Moved, error) {
	if _, err := tx.ExecContext(ctx, db.sql(`select id from tekrar.jobs where id = any($1) order by id for no key update`), pq.Array(ids)); err != nil {
		return nil, err
	}
	db.reach("move: jobs locked")
	if _, err := db.continueIn(ctx, tx, ofParents, ids); err != nil { // as the jobs ended, before they move on
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, db.sql(statement),
		append([]any{pq.Array(ids), pq.Array(expected), actor, action, db.jobsChannel()}, extra...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	done := map[int64]Moved{}
	for rows.Next() {
		var m Moved
		var notified int64
		if err := rows.Scan(&m.ID, &m.Now, &m.Attempt, &m.Queue, &notified); err != nil {
			return nil, err
		}
		done[m.ID] = m
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	if action == "delete" {
		_, err = db.continueIn(ctx, tx, ofParents, ids)
	}
	db.reach("move: done")
	return done, err
}

// nowOf fills in where the jobs that somebody else moved are now.
func (db *DB) nowOf(ctx context.Context, result []Moved) error {
	var ids []int64
	for _, m := range result {
		if m.Err != nil {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []struct {
		ID      int64 `db:"job_id"`
		State   State `db:"state"`
		Attempt int   `db:"attempt"`
	}
	if err := db.SelectContext(ctx, &rows, db.sql(`select i.job_id, h.state, h.attempt from unnest($1::bigint[]) as i(job_id)
cross join lateral (select state, attempt from tekrar.history where job_id = i.job_id and state <= 6 order by id desc limit 1) h`), pq.Array(ids)); err != nil {
		return fmt.Errorf("look up moved jobs: %w", err)
	}
	now := make(map[int64]Moved, len(rows))
	for _, r := range rows {
		now[r.ID] = Moved{ID: r.ID, Now: r.State, Attempt: r.Attempt, Err: ErrStateChanged}
	}
	for i, m := range result {
		if m.Err == nil {
			continue
		}
		if changed, ok := now[m.ID]; ok {
			result[i] = changed
		} else {
			result[i].Err = ErrNotFound
		}
	}
	return nil
}
