package store

import (
	"context"
	"fmt"
	"time"
)

// Waiting is a job that has not started: enqueued, scheduled for a time, or
// awaiting its parent.
type Waiting struct {
	ID       int64
	State    State
	Queue    string
	Priority int
	Args     string
	Parent   int64         // of an awaiting job; else 0
	Wait     time.Duration // until run_at by the database's clock; 0 if not scheduled
}

// WaitingOfKind returns the newest waiting jobs of a kind that q can see, its own
// transaction's included; at most limit.
func (db *DB) WaitingOfKind(ctx context.Context, q Querier, kind string, limit int) ([]Waiting, error) {
	rows, err := q.QueryContext(ctx, db.sql(`select j.id, w.state, j.queue, j.priority, j.args::text, w.parent_id,
  greatest(0, extract(epoch from w.run_at - clock_timestamp()) * 1000000)::bigint
from tekrar.jobs j cross join lateral (
  select 2::smallint as state, clock_timestamp() as run_at, 0::bigint as parent_id from tekrar.ready where job_id = j.id
  union all select -1::smallint, clock_timestamp(), parent_id from tekrar.awaiting where job_id = j.id
  union all select 1::smallint, run_at, 0 from tekrar.scheduled where job_id = j.id) w
where j.kind = $1 order by j.id desc limit $2`), kind, limit)
	if err != nil {
		return nil, fmt.Errorf("list waiting jobs of kind %q: %w", kind, err)
	}
	defer rows.Close()
	var list []Waiting
	for rows.Next() {
		var w Waiting
		var us int64
		if err := rows.Scan(&w.ID, &w.State, &w.Queue, &w.Priority, &w.Args, &w.Parent, &us); err != nil {
			return nil, err
		}
		w.Wait = time.Duration(us) * time.Microsecond
		list = append(list, w)
	}
	return list, rows.Err()
}
