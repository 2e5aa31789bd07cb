package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"
)

const claimFront = `
select l.n, (date_part('epoch', coalesce(r.ready_at, statement_timestamp())) * 1000000)::bigint
from rows from (unnest($1::text[]), unnest($2::smallint[])) with ordinality as l(queue, priority, n)
left join lateral (
  select ready.ready_at from tekrar.ready
  where ready.queue = l.queue and ready.priority = l.priority
    and ready.kind = any($3::text[]) and ready.attempt < 2147483647
  order by ready.ready_at limit 1) r on true
where not exists (select 1 from tekrar.queues q where q.name = l.queue and q.paused_at is not null)`

// ClaimFront returns the lanes with After where a claim of the kinds has to begin to miss
// none: the ready_at of the first job that waits, or the time of the look. Lanes of paused
// queues are left out. It takes nothing, so that claims go on meanwhile: past many dead
// rows it takes long.
func (db *DB) ClaimFront(ctx context.Context, lanes []Lane, kinds []string) (front []Lane, err error) {
	text, queues, priorities := db.sql(claimFront), make([]string, len(lanes)), make([]int64, len(lanes))
	for i, l := range lanes {
		queues[i], priorities[i] = l.Queue, int64(l.Priority)
	}
	err = db.scanners().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error {
			var n int
			var after int64
			if err := r.Scan(&n, &after); err != nil {
				return err
			}
			l := lanes[n-1]
			l.After = time.UnixMicro(after)
			front = append(front, l)
			return nil
		}, pq.Array(queues), pq.Array(priorities), pq.Array(kinds))
	})
	if err != nil {
		return nil, fmt.Errorf("look where waiting jobs begin: %w", err)
	}
	return front, nil
}
