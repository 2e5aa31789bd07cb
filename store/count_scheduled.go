package store

// A trigger keeps how many scheduled jobs each queue, kind and cause has (migration
// 00013), as it does of failed ones: a statement that schedules jobs or takes them away
// appends a row for each of these groups that it touched, whatever the number of jobs,
// and waits for nobody. It costs some 14 microseconds a statement, so promotions and
// settles, which move many at once, do not feel it; a statement that touches no
// scheduled job pays 3, which is why enqueues of none have one of their own.
const (
	scheduledFolded = `with change as materialized (
  delete from tekrar.scheduled_changes where ctid = any(array(select ctid from tekrar.scheduled_changes limit $1 for update skip locked)) returning *
), added as (
  insert into tekrar.scheduled_counts as c (n, cause, queue, kind)
  select sum(n), cause, queue, kind from change group by queue, kind, cause
  on conflict (queue, kind, cause) do update set n = c.n + excluded.n
) select count(*) from change`

	emptyScheduled = `delete from tekrar.scheduled_counts where n = 0`
)

// scheduledCount is the exact number of scheduled jobs under a condition on queue, kind
// and cause.
func scheduledCount(which string) string {
	return kept("scheduled_counts", "scheduled_changes", which)
}
