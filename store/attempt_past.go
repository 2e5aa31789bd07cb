package store

import (
	"context"
	"fmt"
	"time"
)

// AttemptHour is one clock hour (UTC) of the days before.
type AttemptHour struct {
	At             time.Time
	First, FirstOK int64 // as in AttemptBucket
}

// AttemptPast is what the days before say about a span of time.
type AttemptPast struct {
	Hours []AttemptHour // oldest first; hours without a first attempt are left out
	// Yesterday is the hour that ended 24 hours ago; its First, FirstOK and Finished
	// compare with the last 60 minutes.
	Yesterday struct{ First, FirstOK, Finished int64 }
}

// pastDays is over how many days a baseline is taken.
const pastDays = 7

// Day k holds the span's hours k times 24 hours earlier. A span of more than a day
// overlaps with its own past: days 0 and before hold its parts, so that no hour is
// read twice. The last two days are kept by the minute, older ones by the hour.
const attemptPast = `
with span as (
    select date_bin(interval '1 hour', statement_timestamp() - make_interval(secs => $1), timestamptz '2000-01-01 00:00:00Z') as first,
           date_bin(interval '1 hour', statement_timestamp(), timestamptz '2000-01-01 00:00:00Z') + interval '1 hour' as last,
           date_bin(interval '1 minute', statement_timestamp(), timestamptz '2000-01-01 00:00:00Z') - interval '24 hours' as yesterday
)
select date_bin(interval '1 hour', s.minute, timestamptz '2000-01-01 00:00:00Z') as at,
       coalesce(sum(s.n) filter (where s.attempt = 1 and s.outcome <= 5), 0)::bigint,
       coalesce(sum(s.n) filter (where s.attempt = 1 and s.outcome = 1), 0)::bigint,
       coalesce(sum(s.n) filter (where s.attempt = 1 and s.outcome <= 5 and s.of_yesterday), 0)::bigint,
       coalesce(sum(s.n) filter (where s.attempt = 1 and s.outcome = 1 and s.of_yesterday), 0)::bigint,
       coalesce(sum(s.n) filter (where s.outcome in (1, 3, 4, 5) and s.of_yesterday), 0)::bigint
from span cross join generate_series(1 - $2::integer, $3::integer) k cross join lateral (
    select minute, outcome, attempt, n, minute > span.yesterday - interval '1 hour' and minute <= span.yesterday as of_yesterday
    from tekrar.stats
    where minute >= span.first - k * interval '24 hours'
      and minute < least(span.first + interval '24 hours', span.last) - k * interval '24 hours'
      and minute < span.last and outcome between 1 and 5 and (attempt = 1 or outcome <> 2)
      and ($4::text = '' or kind = $4) and ($5::text = '' or queue = $5) and $6::boolean offset 0) s
group by 1 order by 1`

// AttemptPast reads the hours that a baseline of the last span compares with: the
// same hours of the seven days before, by 24 hours each, and what of them lies
// within the span when it is longer than a day. span is at most 31 days. The
// version of the filter is left out: a new one compares with what was usual before it.
func (db *DB) AttemptPast(ctx context.Context, span time.Duration, of AttemptFilter) (p AttemptPast, err error) {
	if span < time.Minute || span > 31*24*time.Hour {
		return p, fmt.Errorf("past attempts: span %s: must be one minute to 31 days", span)
	}
	of, possible := of.values()
	day := 24 * time.Hour
	inside := int((span+time.Hour+day-1)/day) - 1 // days of the past that lie within the span's hours
	rows, err := db.QueryxContext(ctx, db.sql(attemptPast), span.Seconds(), inside, pastDays, of.Kind, of.Queue, possible)
	if err != nil {
		return p, fmt.Errorf("past attempts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var h AttemptHour
		var first, ok, finished int64
		if err := rows.Scan(&h.At, &h.First, &h.FirstOK, &first, &ok, &finished); err != nil {
			return p, fmt.Errorf("past attempts: %w", err)
		}
		if h.First > 0 {
			p.Hours = append(p.Hours, h)
		}
		p.Yesterday.First += first
		p.Yesterday.FirstOK += ok
		p.Yesterday.Finished += finished
	}
	if err := rows.Err(); err != nil {
		return p, fmt.Errorf("past attempts: %w", err)
	}
	return p, nil
}
