package store

import (
	"context"
	"time"
)

// CancelRequest says who asked for the end of a running attempt, and when.
type CancelRequest struct {
	At time.Time
	By string
}

// cancelStatement takes the parameters of a move, but no row moves: the request is
// noted on the running row. The first one stays, so that pressing twice asks once.
const cancelStatement = `with held as materialized (
select r.job_id, r.attempt, r.queue, r.cancel_requested_at is null as first
from unnest($1::bigint[], $2::smallint[]) as i(job_id, expected)
cross join lateral (select * from tekrar.running where job_id = i.job_id and i.expected = 3 for no key update) r
), asked as (
update tekrar.running set cancel_requested_at = clock_timestamp(), cancel_requested_by = $3
where job_id = any(array(select job_id from held where first))
returning job_id
), audited as (
insert into tekrar.audit (actor, action, job_id, detail)
select $3, $4, job_id, jsonb_build_object('from', 3) from asked
), woken as (
select count(pg_notify($5, 'c')) as n from (select 1 from asked limit 1) w
)
select job_id, 3, attempt, queue, (select n from woken) from held`

// Cancel asks the attempts that run processing jobs to end. The jobs stay in
// processing until the attempts do. A settle that comes after the request then
// writes succeeded for an attempt that succeeded all the same, and deleted,
// "Cancelled by <actor>", for any other outcome: nothing is retried. Both rows keep
// the request in data, key cancel_requested. A request that meets a settle waits for
// it and finds the job elsewhere; a settle that meets a request waits and heeds it.
// When the server of the attempt is lost, Reclaim deletes the job: nobody wants it.
func (db *DB) Cancel(ctx context.Context, actor string, targets []Target) ([]Moved, error) {
	return db.move(ctx, cancelStatement, "cancel", actor, targets, []State{Processing})
}

// What a statement that ends an attempt writes when a cancel was asked for; the
// source of its moved rows has cancel_at and cancel_by.
const (
	cancelReason = `'Cancelled by ' || s.cancel_by`
	cancelAsked  = `jsonb_build_object('cancel_requested', jsonb_build_object('at', s.cancel_at, 'by', s.cancel_by))`
	cancelRule   = `jsonb_build_object('rule', 'a cancel was requested')`
)
