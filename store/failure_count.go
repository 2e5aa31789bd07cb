package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// A trigger keeps how many failed jobs stand in each group (migration 00012): each
// statement that changes "failed" appends its differences to failure_changes in its
// own transaction, whoever runs it. Reads add them to what FoldFailures has summed up.
const (
	failureSums = `sum(n)::bigint as n, sum(exhausted)::bigint as exhausted, sum(permanent)::bigint as permanent,
           sum(attempt1)::bigint as attempt1, sum(attempt2)::bigint as attempt2, sum(attempt3)::bigint as attempt3`

	failedCount = `((select coalesce(sum(n), 0) from tekrar.failure_groups) + (select coalesce(sum(n), 0) from tekrar.failure_changes))::bigint`

	// The jobs of one group; the caller has $kind and $fingerprint.
	groupCount = `((select coalesce(sum(n), 0) from tekrar.failure_groups where kind = %[1]s and fingerprint = %[2]s)
	 + (select coalesce(sum(n), 0) from tekrar.failure_changes where kind = %[1]s and fingerprint = %[2]s))::bigint`

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

	failureFold = 50_000 // changes folded in one transaction
)

// FoldFailures adds what has changed since the last time up, so that pages read a row a
// group and not a row a change. One process works at a time, the others return at
// once. Nothing depends on it but the time that pages take.
func (db *DB) FoldFailures(ctx context.Context) error {
	for n := failureFold; n == failureFold; {
		err := db.txRetry(ctx, func(tx *sqlx.Tx) (err error) {
			mine := false
			n = 0
			if err := tx.GetContext(ctx, &mine, `select pg_try_advisory_xact_lock(hashtext('tekrar.failures'), hashtext($1))`, db.Schema()); err != nil || !mine {
				return err
			}
			if err := tx.GetContext(ctx, &n, db.sql(failuresFolded), failureFold); err != nil || n == 0 {
				return err
			}
			_, err = tx.ExecContext(ctx, db.sql(emptyGroups))
			return err
		})
		if err != nil {
			return fmt.Errorf("fold counts of failed jobs: %w", err)
		}
	}
	return nil
}
