package store

import (
	"context"
	"fmt"
	"time"
)

// AttemptBucket is one bar of the attempt distribution.
type AttemptBucket struct {
	At time.Time // start of the bucket
	// ByAttempt counts jobs that succeeded, by the attempt at which they did:
	// 1, 2, 3, 4 and more. Snoozed runs are not counted as attempts.
	ByAttempt [4]int64
	// Exhausted counts jobs whose retries were used up, also those that their
	// policy then deleted. Permanent counts failures that no retry follows.
	Exhausted, Permanent int64
	// First counts first attempts that succeeded or failed, FirstOK those that
	// succeeded: their ratio is the first-attempt success rate. Snoozed,
	// interrupted, lost and cancelled attempts say nothing about the work and are
	// left out.
	First, FirstOK int64
}

// Bounds of Attempts. Statistics are kept by the minute.
const (
	attemptWidthMin   = time.Minute
	attemptBucketsMax = 1000
)

// The zero rows fill the gaps: grouping them with the statistics needs no join.
// Buckets are aligned to multiples of the width since 2000-01-01 UTC, so that a
// chart does not change its bars as time goes on.
var attemptDistribution = `
with span as (
    select make_interval(secs => $1) as width,
           date_bin(make_interval(secs => $1), statement_timestamp(), timestamptz '2000-01-01 00:00:00Z') as last
), part as (
    select generate_series(last - width * ($2::integer - 1), last, width) as at,
           0 as outcome, 0 as attempt, 0::bigint as n
    from span
    union all
    select date_bin(span.width, s.minute, timestamptz '2000-01-01 00:00:00Z'), s.outcome, s.attempt, s.n
    from span cross join lateral (
        select minute, outcome, attempt, n from tekrar.stats
        where minute >= span.last - span.width * ($2::integer - 1) and minute < span.last + span.width
          and ($3::text = '' or kind = $3) and ($4::text = '' or queue = $4) and $5::boolean
          and ($6::text = '' or ` + ofVersion("abs(server)", "$6") + `) offset 0) s
)
select at,
       coalesce(sum(n) filter (where outcome = 1 and attempt = 1), 0)::bigint,
       coalesce(sum(n) filter (where outcome = 1 and attempt = 2), 0)::bigint,
       coalesce(sum(n) filter (where outcome = 1 and attempt = 3), 0)::bigint,
       coalesce(sum(n) filter (where outcome = 1 and attempt >= 4), 0)::bigint,
       coalesce(sum(n) filter (where outcome in (3, 5)), 0)::bigint,
       coalesce(sum(n) filter (where outcome = 4), 0)::bigint,
       coalesce(sum(n) filter (where outcome between 1 and 5 and attempt = 1), 0)::bigint
from part group by at order by at`

// Attempts reads the attempt distribution of the last span in buckets of width,
// oldest first, without gaps; the last bucket is the present one, which still
// grows. width is a whole number of minutes, span at least one width and at most
// 1,000; a span that is no multiple of width is rounded up. Times come from the
// database's clock.
func (db *DB) Attempts(ctx context.Context, span, width time.Duration, of AttemptFilter) ([]AttemptBucket, error) {
	n, err := buckets(span, width)
	if err != nil {
		return nil, err
	}
	of, possible := of.values() // if not, the empty chart of those times
	rows, err := db.QueryxContext(ctx, db.sql(attemptDistribution), width.Seconds(), n, of.Kind, of.Queue, possible, of.Version)
	if err != nil {
		return nil, fmt.Errorf("attempt distribution: %w", err)
	}
	defer rows.Close()
	all := make([]AttemptBucket, 0, n)
	for rows.Next() {
		var b AttemptBucket
		if err := rows.Scan(&b.At, &b.ByAttempt[0], &b.ByAttempt[1], &b.ByAttempt[2], &b.ByAttempt[3],
			&b.Exhausted, &b.Permanent, &b.First); err != nil {
			return nil, fmt.Errorf("attempt distribution: %w", err)
		}
		b.FirstOK = b.ByAttempt[0]
		all = append(all, b)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("attempt distribution: %w", err)
	}
	return all, nil
}

// buckets is how many of a width cover a span.
func buckets(span, width time.Duration) (int, error) {
	if width < attemptWidthMin || width%time.Minute != 0 {
		return 0, fmt.Errorf("attempt distribution: width %s: must be a whole number of minutes", width)
	}
	n := (span + width - 1) / width
	if n < 1 || n > attemptBucketsMax {
		return 0, fmt.Errorf("attempt distribution: span %s: must be 1 to %d times the width %s", span, attemptBucketsMax, width)
	}
	return int(n), nil
}
