package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// One instant divides what is due from what is next: a job due between the two
// looks would be in neither. What became due first is enqueued first, however the
// rows lay in the table.
var promoteHead = `instant as materialized (select clock_timestamp() as t
), taken as (
delete from tekrar.scheduled where ctid = any(array(
  select ctid from tekrar.scheduled where run_at <= (select t from instant) order by run_at, job_id limit 1000 for update skip locked))
returning job_id, run_at, attempt, retry, snoozes, losses, priority, queue, kind
), ` + moved("(select * from taken order by run_at, job_id)", map[string]string{"state": "2::smallint", "reason": "'Triggered by scheduler'"})

var promoteStatement = transition(promoteHead, toReady,
	`select count(*), coalesce(array_agg(distinct queue), '{}'), coalesce(array_agg(job_id), '{}'),
  (select (extract(epoch from s.run_at - clock_timestamp()) * 1000000)::bigint
   from tekrar.scheduled s where s.run_at > (select t from instant) order by s.run_at limit 1)
from moved`)

// Promoted is what one promotion did.
type Promoted struct {
	IDs    []int64
	Queues []string
	// NextIn is the time until the next due job by the database's clock, 0 when
	// jobs are left that are due now, negative when none is scheduled.
	NextIn time.Duration
}

// Promote moves up to 1,000 due jobs to their queues. Due is by the database's
// clock, never early; servers that promote at once skip each other's rows.
func (db *DB) Promote(ctx context.Context) (p Promoted, err error) {
	text := db.sql(promoteStatement)
	err = db.claimers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error {
			var n int64
			var next sql.NullInt64
			var ids pq.Int64Array
			if err := r.Scan(&n, pq.Array(&p.Queues), &ids, &next); err != nil {
				return err
			}
			p.IDs, p.NextIn = ids, -1
			if next.Valid {
				p.NextIn = max(0, time.Duration(next.Int64)*time.Microsecond)
			}
			if n == 1000 {
				p.NextIn = 0
			}
			return nil
		})
	})
	if err != nil {
		return Promoted{}, fmt.Errorf("promote due jobs: %w", err)
	}
	return p, nil
}
