package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
)

// CancelRequest says who asked for the end of a running attempt, and when.
type CancelRequest struct {
	At time.Time
	By string
	// AcknowledgedAt is when the server of the attempt cancelled its handler's context;
	// nil: it has not yet, or its version does not say so.
	AcknowledgedAt *time.Time
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

// AcknowledgeCancels notes that the contexts of these attempts were cancelled as
// people asked, and returns those of which that was not noted before. Only the server
// that holds an attempt can: tokens that it has lost, and those that nobody asked to
// end, change nothing.
func (db *DB) AcknowledgeCancels(ctx context.Context, server int64, tokens []Token) (noted []Token, err error) {
	tokens = slices.SortedFunc(slices.Values(tokens), func(a, b Token) int { return cmp.Compare(a.ID, b.ID) }) // locked as settles lock them
	ids, attempts := make([]int64, len(tokens)), make([]int64, len(tokens))
	for i, t := range tokens {
		ids[i], attempts[i] = t.ID, int64(t.Attempt)
	}
	err = db.beat(ctx, `update tekrar.running r set cancel_acknowledged_at = clock_timestamp()
from unnest($2::bigint[], $3::integer[]) as t(job_id, attempt)
where r.job_id = t.job_id and r.attempt = t.attempt and r.server = $1
  and r.cancel_requested_at is not null and r.cancel_acknowledged_at is null returning r.job_id, r.attempt`,
		func(r *sql.Rows) error {
			var t Token
			err := r.Scan(&t.ID, &t.Attempt)
			noted = append(noted, t)
			return err
		}, server, pq.Array(ids), pq.Array(attempts))
	if err != nil {
		return nil, fmt.Errorf("acknowledge cancel requests: %w", err)
	}
	return noted, nil
}

// What a statement that ends an attempt writes when a cancel was asked for; the
// source of its moved rows has cancel_at and cancel_by.
const (
	cancelReason = `'Cancelled by ' || s.cancel_by`
	cancelAsked  = `jsonb_build_object('cancel_requested', jsonb_build_object('at', s.cancel_at, 'by', s.cancel_by))`
	cancelRule   = `jsonb_build_object('rule', 'a cancel was requested')`
)
