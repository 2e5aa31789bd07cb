package store

import (
	"context"
	"fmt"
	"time"
)

// StatSum is what ended, summed over servers.
type StatSum struct {
	Kind, Queue string
	Outcome     Outcome
	Attempt     int // 20: 20 and more
	Bucket      int // of run time, see BucketBounds
	N           int64
	Run, Wait   time.Duration // of all N together
	Settled     bool          // of a minute that changes no more
}

// statsSettle is how long after its end a minute may still change: a statement has
// thirty seconds, and its minute is that of its begin.
const (
	statsSettle = "5 minutes"
	statsReach  = "1 hour"
)

const statsSince = `with span as (
  select greatest(case when $1::bigint > 0 then 'epoch'::timestamptz + $1::bigint * interval '1 microsecond' else settled end, settled - interval '` + statsReach + `') as since, settled
  from (select date_trunc('minute', statement_timestamp()) - interval '` + statsSettle + `' as settled) m
)
select (date_part('epoch', greatest(span.since, span.settled)) * 1000000)::bigint, s.kind, s.queue, s.outcome, s.attempt, s.bucket,
  sum(s.n)::bigint, sum(s.run_us)::bigint, sum(s.wait_us)::bigint, s.minute < span.settled
from span left join lateral (
  select minute, kind, queue, outcome, attempt, bucket, n, run_us, wait_us from tekrar.stats where minute >= span.since offset 0) s on true
group by span.since, span.settled, s.kind, s.queue, s.outcome, s.attempt, s.bucket, s.minute < span.settled`

// StatsSince sums the statistics of the minutes from since on, at most of the last
// hour and five minutes; the zero time means the last five minutes. next is where
// the minutes begin that are not Settled: given as since the next time, the Settled
// sums of all calls together count everything once.
func (db *DB) StatsSince(ctx context.Context, since time.Time) (sums []StatSum, next time.Time, err error) {
	from := int64(0)
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	rows, err := db.QueryContext(ctx, db.sql(statsSince), from)
	if err != nil {
		return nil, since, fmt.Errorf("read statistics: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var s StatSum
		var kind, queue *string
		var outcome *Outcome
		var attempt, bucket *int
		var n, run, wait *int64
		var settled *bool
		var at int64
		if err := rows.Scan(&at, &kind, &queue, &outcome, &attempt, &bucket, &n, &run, &wait, &settled); err != nil {
			return nil, since, fmt.Errorf("read statistics: %w", err)
		}
		next = time.UnixMicro(at)
		if kind == nil {
			continue // nothing ended: the row has the time only
		}
		s.Kind, s.Queue, s.Outcome, s.Attempt, s.Bucket, s.N, s.Settled = *kind, *queue, *outcome, *attempt, *bucket, *n, *settled
		s.Run, s.Wait = time.Duration(*run)*time.Microsecond, time.Duration(*wait)*time.Microsecond
		sums = append(sums, s)
	}
	return sums, next, rows.Err()
}
