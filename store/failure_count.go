package store

// A trigger keeps how many failed jobs stand in each group (migration 00012): each
// statement that changes "failed" appends its differences to failure_changes in its
// own transaction, whoever runs it. Reads add them to what FoldCounts has summed up.
const (
	failureSums = `sum(n)::bigint as n, sum(exhausted)::bigint as exhausted, sum(permanent)::bigint as permanent,
           sum(attempt1)::bigint as attempt1, sum(attempt2)::bigint as attempt2, sum(attempt3)::bigint as attempt3`

	// The first ten minutes of the 24 hours that pages draw: the last hour ends with
	// the ten minutes that run.
	failureDay = `date_bin('10 minutes', now(), 'epoch') - interval '23 hours 50 minutes'`

	// Ten minutes of before the day are kept for transactions that began earlier.
	failuresFolded = `with change as materialized (
  delete from tekrar.failure_changes where ctid = any(array(select ctid from tekrar.failure_changes limit $1 for update skip locked)) returning *
), old as (
  delete from tekrar.failure_times where at < ` + failureDay + ` - interval '10 minutes'
), by_time as (
  insert into tekrar.failure_times as t (kind, fingerprint, at, n)
  select kind, fingerprint, at, sum(n) from change where at >= ` + failureDay + ` - interval '10 minutes' group by kind, fingerprint, at
  on conflict (kind, fingerprint, at) do update set n = t.n + excluded.n
), by_group as (
  insert into tekrar.failure_groups as g (kind, fingerprint, n, exhausted, permanent, attempt1, attempt2, attempt3)
  select kind, fingerprint, ` + failureSums + ` from change group by kind, fingerprint
  on conflict (kind, fingerprint) do update set n = g.n + excluded.n, exhausted = g.exhausted + excluded.exhausted, permanent = g.permanent + excluded.permanent,
    attempt1 = g.attempt1 + excluded.attempt1, attempt2 = g.attempt2 + excluded.attempt2, attempt3 = g.attempt3 + excluded.attempt3
) select count(*) from change`

	// A sum of zero says nothing, and groups come and go.
	emptyGroups = `delete from tekrar.failure_groups where (n, exhausted, permanent, attempt1, attempt2, attempt3) = (0, 0, 0, 0, 0, 0)`
)

var (
	failedCount = failedCountOf("true")
	groupCount  = failedCountOf("kind = %[1]s and fingerprint = %[2]s")
)

func failedCountOf(which string) string {
	return kept("failure_groups", "failure_changes", which)
}
