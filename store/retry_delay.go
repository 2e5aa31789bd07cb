package store

import (
	"context"
	"fmt"
	"time"
)

// RetryDelay is how much later retried jobs succeeded than their first failure.
// Statistics hold no such time, so it is that of the newest succeeded jobs, and
// says of how many.
type RetryDelay struct {
	Looked      int        // succeeded jobs that were looked at
	Retried     int        // of them had failed before
	Since       *time.Time // when the oldest of them succeeded; nil: none
	Median, P95 time.Duration
}

// retryDelayLooks bounds the jobs looked at: about ten milliseconds.
const retryDelayLooks = 2000

var retryDelay = finishedFound + `
select count(*), count(x.late), min(x.ended),
       coalesce(percentile_cont(0.5) within group (order by x.late), 0)::float8,
       coalesce(percentile_cont(0.95) within group (order by x.late), 0)::float8
from (
    select f.ended, case when f.attempt > 1 then (
        select extract(epoch from f.ended - h.at)::float8 from tekrar.history h
        where h.job_id = f.job_id and h.state = 5 order by h.id limit 1) end as late
    from found f where f.listed and f.ended >= statement_timestamp() - make_interval(secs => $6)
      and ($7::text = '' or exists (select 1 from tekrar.history h where h.job_id = f.job_id and h.id = f.id and ` + ofVersion("h.server", "$7") + `))) x`

// RetryDelay looks at the newest 2,000 succeeded jobs at most, of the last span,
// and of them those that count by the filter.
func (db *DB) RetryDelay(ctx context.Context, span time.Duration, of AttemptFilter) (r RetryDelay, err error) {
	of, possible := of.values()
	if !possible {
		return r, nil
	}
	_, before, err := Cursor{}.after(Succeeded)
	if err != nil {
		return r, err
	}
	var median, p95 float64
	err = db.QueryRowxContext(ctx, db.sql(retryDelay), Succeeded, of.Kind, of.Queue, before, retryDelayLooks, span.Seconds(), of.Version).
		Scan(&r.Looked, &r.Retried, &r.Since, &median, &p95)
	if err != nil {
		return r, fmt.Errorf("delay added by retries: %w", err)
	}
	r.Median, r.P95 = time.Duration(median*float64(time.Second)), time.Duration(p95*float64(time.Second))
	return r, nil
}
