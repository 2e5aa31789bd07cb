package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// FailureGroup is the failed jobs of one kind whose error has one type and one
// message, numbers and ids in it aside.
type FailureGroup struct {
	Kind        string    `db:"kind"`
	Fingerprint int64     `db:"fingerprint"`
	N           int64     `db:"n"`
	First       time.Time `db:"first"`
	Last        time.Time `db:"last"`
	// How the last attempts ended. What is left of N was lost with its server, or
	// failed before this was kept.
	Exhausted int64 `db:"exhausted"`
	Permanent int64 `db:"permanent"`
	// N by the attempt that failed last: 1, 2, 3, 4 or later.
	Attempt1 int64 `db:"attempt1"`
	Attempt2 int64 `db:"attempt2"`
	Attempt3 int64 `db:"attempt3"`
	// Of the newest job of the group.
	ErrorType string `db:"error_type"`
	ErrorLine string `db:"error_line"`
	// How many of N failed in each of the last 24, oldest first.
	Hours   [24]int64  `db:"-"`
	MutedAt *time.Time `db:"muted_at"`
	MutedBy string     `db:"muted_by"`
}

// Failures is the answer of FailureGroups.
type Failures struct {
	Groups []FailureGroup
	// Groups and jobs in all, those beyond the limit included.
	GroupsTotal, JobsTotal int64
	// AtLeast: there are more failed jobs than were looked at; the groups are those
	// of the newest ones.
	AtLeast bool
}

// FailuresLook is how many failed jobs are grouped at most, the newest ones.
const FailuresLook = 500_000

// groupsOf reads the newest failed jobs once and keeps none of them: a row a group
// and hour, then a row a group. What else is told is looked up for the groups shown
// only. $1 muted ones or the others, $2 groups, $3 jobs looked at.
const groupsOf = `
with hourly as materialized (
    select kind, fingerprint, hour, count(*) as n, min(failed_at) as first, max(failed_at) as last,
           count(*) filter (where outcome in (3, 5)) as exhausted, count(*) filter (where outcome = 4) as permanent,
           count(*) filter (where attempt <= 1) as attempt1, count(*) filter (where attempt = 2) as attempt2,
           count(*) filter (where attempt = 3) as attempt3
    from (select f.kind, f.fingerprint, f.failed_at, f.attempt - f.snoozes as attempt, f.outcome,
                 case when f.failed_at > now() - interval '24 hours' then date_bin('1 hour', f.failed_at, now()) end as hour
          from tekrar.failed f order by f.failed_at desc, f.job_id desc limit $3) newest
    group by kind, fingerprint, hour
), grouped as materialized (
    select kind, fingerprint, sum(n)::bigint as n, min(first) as first, max(last) as last,
           sum(exhausted)::bigint as exhausted, sum(permanent)::bigint as permanent,
           sum(attempt1)::bigint as attempt1, sum(attempt2)::bigint as attempt2, sum(attempt3)::bigint as attempt3,
           array_agg(coalesce(ceil(extract(epoch from now() - hour) / 3600)::bigint, 0)) as ages, array_agg(n) as counts
    from hourly group by kind, fingerprint
), shown as materialized (
    select *, count(*) over () as groups_total, (sum(n) over ())::bigint as jobs_total
    from grouped where ((kind, fingerprint) in (select kind, fingerprint from tekrar.failure_mutes)) = $1
    order by n desc, last desc, kind, fingerprint limit $2
)
select s.*, e.error_type, e.error_line, m.muted_at, coalesce(m.muted_by, '') as muted_by,
       (select sum(n) from grouped)::bigint as looked
from shown s cross join lateral (
    select error_type, error_line from tekrar.failed
    where kind = s.kind and fingerprint = s.fingerprint order by failed_at desc, job_id desc limit 1) e
left join lateral (
    select muted_at, muted_by from tekrar.failure_mutes
    where kind = s.kind and fingerprint = s.fingerprint offset 0) m on true
order by s.n desc, s.last desc, s.kind, s.fingerprint`

// FailureGroups reads the largest groups of failed jobs, at most limit: those that
// are muted, or the others. At most FailuresLook jobs are looked at.
func (db *DB) FailureGroups(ctx context.Context, muted bool, limit int) (f Failures, err error) {
	var rows []struct {
		FailureGroup
		GroupsTotal int64 `db:"groups_total"`
		JobsTotal   int64 `db:"jobs_total"`
		Looked      int64 `db:"looked"`
		// Hours begun since then, 0 for more than a day, and how many failed in each.
		Ages   pq.Int64Array `db:"ages"`
		Counts pq.Int64Array `db:"counts"`
	}
	if err := db.SelectContext(ctx, &rows, db.sql(groupsOf), muted, limit, FailuresLook); err != nil {
		return f, fmt.Errorf("group failed jobs: %w", err)
	}
	for _, r := range rows {
		for i, age := range r.Ages {
			if age >= 1 && age <= int64(len(r.Hours)) {
				r.Hours[24-age] = r.Counts[i]
			}
		}
		f.Groups = append(f.Groups, r.FailureGroup)
		f.GroupsTotal, f.JobsTotal, f.AtLeast = r.GroupsTotal, r.JobsTotal, r.Looked >= FailuresLook
	}
	return f, nil
}

// FailureGroup reads one group by its kind and fingerprint, with the exact count;
// ErrNotFound when no failed job is in it. Its hours are not read.
func (db *DB) FailureGroup(ctx context.Context, kind string, fingerprint int64) (g FailureGroup, err error) {
	if (JobFilter{Kind: kind}).impossible() {
		return g, fmt.Errorf("failure group: %w", ErrNotFound)
	}
	err = db.GetContext(ctx, &g, db.sql(`
with one as materialized (
    select f.failed_at, f.attempt - f.snoozes as attempt, f.outcome from tekrar.failed f where f.kind = $1::text and f.fingerprint = $2::bigint
), n as materialized (
    select count(*) as n, min(failed_at) as first, max(failed_at) as last,
           count(*) filter (where outcome in (3, 5)) as exhausted, count(*) filter (where outcome = 4) as permanent,
           count(*) filter (where attempt <= 1) as attempt1, count(*) filter (where attempt = 2) as attempt2,
           count(*) filter (where attempt = 3) as attempt3
    from one
)
select $1::text as kind, $2::bigint as fingerprint, n.*, e.error_type, e.error_line, m.muted_at, coalesce(m.muted_by, '') as muted_by
from n cross join lateral (
    select error_type, error_line from tekrar.failed
    where kind = $1 and fingerprint = $2 order by failed_at desc, job_id desc limit 1) e
left join tekrar.failure_mutes m on m.kind = $1 and m.fingerprint = $2`), kind, fingerprint)
	if isNoRows(err) {
		err = ErrNotFound
	}
	if err != nil {
		return g, fmt.Errorf("failure group: %w", err)
	}
	return g, nil
}

// MutedFailures counts the failed jobs of muted groups.
func (db *DB) MutedFailures(ctx context.Context) (n int64, err error) {
	err = db.GetContext(ctx, &n, db.sql(mutedFailures))
	if err != nil {
		return 0, fmt.Errorf("count muted failures: %w", err)
	}
	return n, nil
}

const mutedFailures = `
select coalesce(sum(c.n), 0)::bigint from tekrar.failure_mutes m cross join lateral (
    select count(*) as n from tekrar.failed f where f.kind = m.kind and f.fingerprint = m.fingerprint) c`
