package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// CallStats are numbers about the provider calls of the last 24 hours, of the
// newest 10,000 of them when there are more.
type CallStats struct {
	Calls     Count
	Answered  int64 // their outcome is recorded
	Delivered int64
	Replayed  int64 // delivered, as the answer to an earlier call
	P95       time.Duration
	Warnings  []CallWarning // of each kind the newest three
}

// CallWarning is a use of keys that defeats them.
type CallWarning struct {
	Kind string   // "payloads": one key, other contents; "keys": one content, several keys; "effects": one key, delivered more than once
	Keys []string // at most five of them
	N    int64    // payloads, keys or effects
}

const recentCalls = `with recent as materialized (
  select * from (select id, at, outcome, replayed, duration_us, key, payload, reference from tekrar.provider_calls order by id desc limit $1) r
  where at >= clock_timestamp() - interval '24 hours'
)`

const callStats = recentCalls + `
select count(*), count(outcome), count(*) filter (where outcome = 'delivered'), count(*) filter (where outcome = 'delivered' and replayed),
  coalesce(percentile_disc(0.95) within group (order by duration_us), 0) from recent`

// A deliberate second sending has a generation in its key: it is another effect
// with the same content, and no fault.
const callWarnings = recentCalls + `
(select 'payloads', array[key], count(distinct payload) as n from recent where key <> ''
  group by key having count(distinct payload) > 1 order by max(id) desc limit 3)
union all
(select 'effects', array[key], count(distinct reference) filter (where outcome = 'delivered' and not replayed) as n from recent where key <> ''
  group by key having count(distinct reference) filter (where outcome = 'delivered' and not replayed) > 1 order by max(id) desc limit 3)
union all
(select 'keys', (array_agg(distinct k))[1:5], count(distinct k) as n from (select id, payload, regexp_replace(key, '~g[0-9]+$', '') as k from recent where key <> '') r
  group by payload having count(distinct k) > 1 order by max(id) desc limit 3)`

// CallStats reads them.
func (db *DB) CallStats(ctx context.Context) (s CallStats, err error) {
	var n, p95 int64
	err = db.QueryRowContext(ctx, db.sql(callStats), CountMax+1).Scan(&n, &s.Answered, &s.Delivered, &s.Replayed, &p95)
	if err != nil {
		return s, fmt.Errorf("count provider calls: %w", err)
	}
	s.Calls, s.P95 = bounded(n), time.Duration(p95)*time.Microsecond
	rows, err := db.QueryContext(ctx, db.sql(callWarnings), CountMax)
	if err != nil {
		return s, fmt.Errorf("look for misused keys: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w CallWarning
		if err := rows.Scan(&w.Kind, (*pq.StringArray)(&w.Keys), &w.N); err != nil {
			return s, fmt.Errorf("look for misused keys: %w", err)
		}
		s.Warnings = append(s.Warnings, w)
	}
	return s, rows.Err()
}
