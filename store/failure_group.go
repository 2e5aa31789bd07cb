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
	// How many of N failed in each of the last 24 hours, oldest first, by steps of ten
	// minutes on the clock: the last of them ends with the step that runs, so that it
	// is 50 to 60 minutes.
	Hours   [24]int64  `db:"-"`
	MutedAt *time.Time `db:"muted_at"`
	MutedBy string     `db:"muted_by"`
}

// Failures is the answer of FailureGroups.
type Failures struct {
	Groups []FailureGroup
	// Groups and jobs in all, those beyond the limit included.
	GroupsTotal, JobsTotal int64
}

// groupsOf adds up what is kept of each group; failed jobs themselves are looked up
// for the groups shown only, the oldest and the newest of each. $1 muted ones or the
// others, $2 groups.
const groupsOf = `
with change as materialized (
    select kind, fingerprint, at, ` + failureSums + ` from tekrar.failure_changes group by kind, fingerprint, at
), grouped as materialized (
    select kind, fingerprint, ` + failureSums + ` from (
        select kind, fingerprint, n, exhausted, permanent, attempt1, attempt2, attempt3 from tekrar.failure_groups
        union all select kind, fingerprint, n, exhausted, permanent, attempt1, attempt2, attempt3 from change) g
    group by kind, fingerprint having sum(n) > 0
), shown as materialized (
    select *, count(*) over () as groups_total, (sum(n) over ())::bigint as jobs_total
    from grouped where ((kind, fingerprint) in (select kind, fingerprint from tekrar.failure_mutes)) = $1
    order by n desc, kind, fingerprint limit $2
)
select s.*, o.failed_at as first, e.failed_at as last, e.error_type, e.error_line, m.muted_at, coalesce(m.muted_by, '') as muted_by, h.hours, h.counts
from shown s cross join lateral (
    select failed_at from tekrar.failed
    where kind = s.kind and fingerprint = s.fingerprint order by failed_at, job_id limit 1) o
cross join lateral (
    select failed_at, error_type, error_line from tekrar.failed
    where kind = s.kind and fingerprint = s.fingerprint order by failed_at desc, job_id desc limit 1) e
left join lateral (
    select muted_at, muted_by from tekrar.failure_mutes
    where kind = s.kind and fingerprint = s.fingerprint offset 0) m on true
cross join lateral (
    select array_agg(hour) as hours, array_agg(n) as counts from (
        select floor(extract(epoch from t.at - (` + failureDay + `)) / 3600)::bigint as hour, sum(t.n)::bigint as n from (
            select at, n from tekrar.failure_times where kind = s.kind and fingerprint = s.fingerprint and at >= ` + failureDay + `
            union all select at, n from change where kind = s.kind and fingerprint = s.fingerprint and at >= ` + failureDay + `) t
        group by 1) x) h
order by s.n desc, s.kind, s.fingerprint`

// FailureGroups reads the largest groups of failed jobs, at most limit: those that
// are muted, or the others. It costs as much as there are groups, however many jobs.
func (db *DB) FailureGroups(ctx context.Context, muted bool, limit int) (f Failures, err error) {
	var rows []struct {
		FailureGroup
		GroupsTotal int64         `db:"groups_total"`
		JobsTotal   int64         `db:"jobs_total"`
		InHours     pq.Int64Array `db:"hours"`
		Counts      pq.Int64Array `db:"counts"`
	}
	if err := db.SelectContext(ctx, &rows, db.sql(groupsOf), muted, limit); err != nil {
		return f, fmt.Errorf("group failed jobs: %w", err)
	}
	for _, r := range rows {
		for i, hour := range r.InHours {
			if hour < int64(len(r.Hours)) { // a clock set back leaves times to come
				r.Hours[hour] = r.Counts[i]
			}
		}
		f.Groups = append(f.Groups, r.FailureGroup)
		f.GroupsTotal, f.JobsTotal = r.GroupsTotal, r.JobsTotal
	}
	return f, nil
}

// FailureGroup reads one group by its kind and fingerprint, with the exact count;
// ErrNotFound when no failed job is in it. Its hours are not read.
func (db *DB) FailureGroup(ctx context.Context, kind string, fingerprint int64) (g FailureGroup, err error) {
	if (JobFilter{Kind: kind}).impossible() {
		return g, fmt.Errorf("failure group: %w", ErrNotFound)
	}
	err = db.GetContext(ctx, &g, db.sql(oneGroup), kind, fingerprint)
	if isNoRows(err) {
		err = ErrNotFound
	}
	if err != nil {
		return g, fmt.Errorf("failure group: %w", err)
	}
	return g, nil
}

const oneGroup = `
with one as materialized (
    select ` + failureSums + ` from (
        select n, exhausted, permanent, attempt1, attempt2, attempt3 from tekrar.failure_groups where kind = $1::text and fingerprint = $2::bigint
        union all select n, exhausted, permanent, attempt1, attempt2, attempt3 from tekrar.failure_changes where kind = $1 and fingerprint = $2) g
)
select $1::text as kind, $2::bigint as fingerprint, n.*, o.failed_at as first, e.failed_at as last, e.error_type, e.error_line, m.muted_at, coalesce(m.muted_by, '') as muted_by
from one n cross join lateral (
    select failed_at from tekrar.failed
    where kind = $1 and fingerprint = $2 order by failed_at, job_id limit 1) o
cross join lateral (
    select failed_at, error_type, error_line from tekrar.failed
    where kind = $1 and fingerprint = $2 order by failed_at desc, job_id desc limit 1) e
left join tekrar.failure_mutes m on m.kind = $1 and m.fingerprint = $2`

// MutedFailures counts the failed jobs of muted groups.
func (db *DB) MutedFailures(ctx context.Context) (n int64, err error) {
	err = db.GetContext(ctx, &n, db.sql(mutedFailures))
	if err != nil {
		return 0, fmt.Errorf("count muted failures: %w", err)
	}
	return n, nil
}

var mutedFailures = `
select coalesce(sum(` + fmt.Sprintf(groupCount, "m.kind", "m.fingerprint") + `), 0)::bigint from tekrar.failure_mutes m`
