package store

import (
	"context"
	"fmt"
	"time"
)

// AttemptKind is what one kind's attempts came to in a span of time. Snoozed,
// interrupted, lost and cancelled attempts are left out, as in AttemptBucket.
type AttemptKind struct {
	Kind           string
	First, FirstOK int64
	// Attempts counts all that ended, retries with them. Run is how long they ran,
	// RetryRun how long those after the first did.
	Attempts      int64
	Run, RetryRun time.Duration
	// Late counts jobs that ended at attempt 3 or later, LateExhausted those of them
	// whose retries were used up.
	Late, LateExhausted int64
}

var attemptKinds = `
with span as (
    select make_interval(secs => $1) as width,
           date_bin(make_interval(secs => $1), statement_timestamp(), timestamptz '2000-01-01 00:00:00Z') as last
)
select s.kind,
       coalesce(sum(s.n) filter (where s.attempt = 1), 0)::bigint,
       coalesce(sum(s.n) filter (where s.attempt = 1 and s.outcome = 1), 0)::bigint,
       sum(s.n)::bigint, sum(s.run_us)::bigint,
       coalesce(sum(s.run_us) filter (where s.attempt > 1), 0)::bigint,
       coalesce(sum(s.n) filter (where s.attempt >= 3 and s.outcome <> 2), 0)::bigint,
       coalesce(sum(s.n) filter (where s.attempt >= 3 and s.outcome in (3, 5)), 0)::bigint
from span cross join lateral (
    select kind, outcome, attempt, n, run_us from tekrar.stats
    where minute >= span.last - span.width * ($2::integer - 1) and minute < span.last + span.width
      and outcome between 1 and 5
      and ($3::text = '' or kind = $3) and ($4::text = '' or queue = $4) and $5::boolean
      and ($6::text = '' or ` + ofVersion("abs(server)", "$6") + `) offset 0) s
group by s.kind order by 4 desc, s.kind`

// AttemptKinds reads the same span as Attempts, by kind, the one with the most
// attempts first.
func (db *DB) AttemptKinds(ctx context.Context, span, width time.Duration, of AttemptFilter) ([]AttemptKind, error) {
	n, err := buckets(span, width)
	if err != nil {
		return nil, err
	}
	of, possible := of.values()
	rows, err := db.QueryxContext(ctx, db.sql(attemptKinds), width.Seconds(), n, of.Kind, of.Queue, possible, of.Version)
	if err != nil {
		return nil, fmt.Errorf("attempts by kind: %w", err)
	}
	defer rows.Close()
	var kinds []AttemptKind
	for rows.Next() {
		var k AttemptKind
		var run, retryRun int64
		if err := rows.Scan(&k.Kind, &k.First, &k.FirstOK, &k.Attempts, &run, &retryRun, &k.Late, &k.LateExhausted); err != nil {
			return nil, fmt.Errorf("attempts by kind: %w", err)
		}
		k.Run, k.RetryRun = time.Duration(run)*time.Microsecond, time.Duration(retryRun)*time.Microsecond
		kinds = append(kinds, k)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("attempts by kind: %w", err)
	}
	return kinds, nil
}
