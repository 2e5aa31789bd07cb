package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// AttemptSpan is the time in which an attempt ran, as the history knows it.
type AttemptSpan struct {
	JobID   int64
	Attempt int
	Start   time.Time
	End     *time.Time // when it no longer held its job; nil: it holds it, or the end is not among the rows read
	Late    *time.Time // when it came back although it no longer held its job
}

// spanRows bounds what is read of each job's history.
const spanRows = 200

const attemptSpans = `select h.job_id, h.attempt, h.state, h.at from unnest($1::bigint[]) j(id) cross join lateral (
  select job_id, id, attempt, state, at from tekrar.history where job_id = j.id order by id desc limit $2) h
order by h.job_id, h.id`

// AttemptSpans reads when the attempts of these jobs ran, by job and attempt, from
// the newest 200 history rows of each.
func (db *DB) AttemptSpans(ctx context.Context, jobs []int64) (spans []AttemptSpan, err error) {
	rows, err := db.QueryContext(ctx, db.sql(attemptSpans), pq.Array(jobs), spanRows)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	defer rows.Close()
	index := map[[2]int64]int{}
	for rows.Next() {
		var job, attempt int64
		var state State
		var at time.Time
		if err := rows.Scan(&job, &attempt, &state, &at); err != nil {
			return nil, fmt.Errorf("read attempts: %w", err)
		}
		i, begun := index[[2]int64{job, attempt}]
		switch {
		case state == Processing:
			index[[2]int64{job, attempt}] = len(spans)
			spans = append(spans, AttemptSpan{JobID: job, Attempt: int(attempt), Start: at})
		case !begun:
		case state == Late:
			spans[i].Late = &at
		case spans[i].End == nil:
			spans[i].End = &at
		}
	}
	return spans, rows.Err()
}
