package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

const sweepAwaiting = `select a.job_id, a.parent_id, ` + isDue + ` as due
from (select job_id, parent_id, condition from tekrar.awaiting
      where (parent_id, job_id) > ($1::bigint, $2::bigint) order by parent_id, job_id limit $3) a
left join lateral ` + parentState + ` p on true
order by a.parent_id, a.job_id`

// awaitingChunk bounds one step of a sweep, about 10 ms.
const awaitingChunk = 2000

// AwaitingPlace is how far a sweep has come; zero: the start.
type AwaitingPlace struct{ parent, job int64 }

// SweepAwaiting looks at the next continuations, by parent, and decides what is
// due. It needs no hint of anybody: what a process did not get to between the
// settle of a parent and the start of its continuations is found here. seen
// counts what it looked at; next is zero when the sweep is complete.
func (db *DB) SweepAwaiting(ctx context.Context, from AwaitingPlace) (all []Continued, seen int, next AwaitingPlace, err error) {
	var rows []struct {
		ID     int64 `db:"job_id"`
		Parent int64 `db:"parent_id"`
		Due    bool  `db:"due"`
	}
	if err := db.SelectContext(ctx, &rows, db.sql(sweepAwaiting), from.parent, from.job, awaitingChunk); err != nil {
		return nil, 0, from, fmt.Errorf("sweep awaiting jobs: %w", err)
	}
	var due []int64
	for _, r := range rows {
		if r.Due {
			due = append(due, r.ID)
		}
	}
	if len(due) > 0 {
		err = db.txRetry(ctx, func(tx *sqlx.Tx) (err error) {
			all, err = db.continueIn(ctx, tx, ofJobs, due)
			return err
		})
	}
	if err != nil {
		return nil, len(rows), from, err
	}
	if len(rows) == awaitingChunk {
		next = AwaitingPlace{rows[len(rows)-1].Parent, rows[len(rows)-1].ID}
	}
	return all, len(rows), next, nil
}

var abandonStatement = transition(`due as materialized (
select a.ctid as tid, a.job_id, a.parent_id, a.priority, a.queue, a.kind,
       0 as attempt, 0 as retry, 0 as snoozes, 0::smallint as losses
from unnest($1::bigint[], $2::bigint[]) as e(parent_id, id)
cross join lateral (select ctid, * from tekrar.awaiting where parent_id = e.parent_id offset 0) a
where not exists (select 1 from tekrar.history h where h.job_id = e.parent_id and h.id > e.id and h.state <= 6)
order by a.job_id
), gone as (
delete from tekrar.awaiting where ctid = any(array(select tid from due)) returning job_id
), `+moved("(select due.* from due join gone using (job_id))", map[string]string{
	"state":  "6::smallint",
	"reason": "'Parent ' || s.parent_id || ' was deleted and not restored; it waited for a success'",
}), 0, `select count(*) from moved`)

// settleFollowers decides the continuations of jobs that retention is about to
// remove: whoever still waits for the success of a deleted one waits in vain.
// rows are the jobs' last history rows; their jobs rows are locked.
func (db *DB) settleFollowers(ctx context.Context, tx *sqlx.Tx, state State, jobs, rows []int64) error {
	var any bool
	err := tx.GetContext(ctx, &any, db.sql(`select exists (select 1 from tekrar.awaiting where parent_id = any($1))`), pq.Array(jobs))
	if err != nil || !any {
		return err
	}
	if _, err := db.continueIn(ctx, tx, ofParents, jobs); err != nil || state != Deleted {
		return err
	}
	var n int
	return tx.GetContext(ctx, &n, db.sql(abandonStatement), pq.Array(jobs), pq.Array(rows))
}
