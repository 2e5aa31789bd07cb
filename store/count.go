package store

import (
	"context"
	"fmt"
	"time"
)

// Count is a number of jobs. AtLeast: there are or may be more, shown as "10,000+".
type Count struct {
	N       int64
	AtLeast bool
}

// CountMax is how far jobs are counted where an exact number would cost a walk
// over millions of rows.
const CountMax = 10_000

// History rows a count of finished jobs may look at: after a mass requeue most of
// them belong to jobs that stand elsewhere by now. Reached before CountMax, the
// count is a lower bound too.
const countCandidatesMax = 30_000

func bounded(n int64) Count { return Count{N: min(n, CountMax), AtLeast: n > CountMax} }

// finishedCount counts what the list of finished jobs shows, by the same index
// and the same test, in one row (n, more). within narrows the range of the index,
// listed is the test of a candidate h. The CTE is read only as far as needed, from
// the newest rows, whose pages are likely in memory.
func finishedCount(within, listed string) string {
	return fmt.Sprintf(`(
	with candidate as materialized (
		select h.id, h.job_id, h.queue from tekrar.history h
		where h.state in (4, 6) and %s order by h.kind desc, h.id desc limit %d)
	select m.n, case when m.n > %[4]d then true else (select count(*) from candidate) > %[5]d end as more
	from (select count(*) as n from (
		select 1 from candidate h where %[3]s limit %[4]d + 1) l) m)`,
		within, countCandidatesMax+1, listed, CountMax, countCandidatesMax)
}

var allCounts = fmt.Sprintf(`
select (select count(*) from tekrar.scheduled),
       (select count(*) from (select 1 from tekrar.awaiting limit %[1]d) a), (select count(*) from tekrar.running),
       %[4]s,
       (select count(*) from (select 1 from tekrar.ready limit %[1]d) r),
       s.n, s.more, d.n, d.more
from %[2]s s cross join %[3]s d`, CountMax+1,
	finishedCount("h.state = 4", isLastRow), finishedCount("h.state = 6", isLastRow), failedCount)

// Counts reads how many jobs stand in each state: what the unfiltered list of the
// state holds. Scheduled, processing and failed are exact. Enqueued, awaiting,
// succeeded and deleted are exact to 10,000, then AtLeast; of succeeded and deleted jobs at
// most 30,000 history rows are looked at, so that after a mass requeue AtLeast
// may come with a smaller number. (Statistics would count farther, but attempts
// that succeeded ever, not the jobs in the list.)
func (db *DB) Counts(ctx context.Context) (map[State]Count, error) {
	var scheduled, awaiting, running, failed, ready, succeeded, deleted int64
	var moreSucceeded, moreDeleted bool
	err := db.QueryRowContext(ctx, db.sql(allCounts)).
		Scan(&scheduled, &awaiting, &running, &failed, &ready, &succeeded, &moreSucceeded, &deleted, &moreDeleted)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	return map[State]Count{
		Scheduled: {N: scheduled}, Processing: {N: running}, Failed: {N: failed}, Enqueued: bounded(ready),
		Awaiting:  bounded(awaiting),
		Succeeded: {N: min(succeeded, CountMax), AtLeast: moreSucceeded},
		Deleted:   {N: min(deleted, CountMax), AtLeast: moreDeleted},
	}, nil
}

// Counts under a filter; $1 queue, $2 kind. The candidates of finished jobs of
// one kind are one range of the index, of all kinds another.
var (
	hotCounts = map[State]string{
		Enqueued:   hotCount("ready", ""),
		Processing: hotCount("running", ""),
		Failed:     hotCount("failed", ""),
		Awaiting:   hotCount("awaiting", ""),
		Scheduled:  hotCount("scheduled", "and ($3::smallint = 0 or cause = $3)"),
	}
	kindCount    = "select n, more from " + finishedCount("h.state = $3 and h.kind = $2::text", queueListed) + " c"
	anyKindCount = "select n, more from " + finishedCount("h.state = $3 and $2::text = ''", queueListed) + " c"
)

const queueListed = `($1::text = '' or h.queue = $1) and ` + isLastRow

func hotCount(table, also string) string {
	return fmt.Sprintf(`select count(*), count(*) > %d from (
		select 1 from tekrar.%s where ($1::text = '' or queue = $1) and ($2::text = '' or kind = $2) %s
		limit %[1]d + 1) m`, CountMax, table, also)
}

// CountJobs counts what the list of f holds, all its pages together: exact to
// 10,000, then AtLeast. Of succeeded and deleted jobs see Counts. f.After and
// f.Limit mean nothing here.
func (db *DB) CountJobs(ctx context.Context, f JobFilter) (c Count, err error) {
	if err := f.check(); err != nil || f.impossible() {
		return Count{}, err
	}
	if !f.Query.IsZero() || f.Group != nil {
		return db.countTo(ctx, f, lastTime, searchPatience/2, CountMax)
	}
	text, args := hotCounts[f.State], []any{f.Queue, f.Kind}
	switch {
	case f.State == Scheduled:
		args = append(args, f.Cause)
	case f.State == Succeeded || f.State == Deleted:
		args = append(args, f.State)
		if text = anyKindCount; f.Kind != "" {
			text = kindCount
		}
	}
	if err := db.QueryRowContext(ctx, db.sql(text), args...).Scan(&c.N, &c.AtLeast); err != nil {
		return Count{}, fmt.Errorf("count %s jobs: %w", f.State, err)
	}
	c.N = min(c.N, CountMax)
	return c, nil
}

// Retrying counts the scheduled jobs that wait for a retry (the list with
// CauseRetry), and says when the next of them is due; nil when none waits.
func (db *DB) Retrying(ctx context.Context) (n int64, next *time.Time, err error) {
	err = db.QueryRowContext(ctx, db.sql(`select count(*), min(run_at) from tekrar.scheduled where cause = 2`)).
		Scan(&n, &next)
	if err != nil {
		return 0, nil, fmt.Errorf("count waiting retries: %w", err)
	}
	return n, next, nil
}

const oldestReady = `
with recursive` + readyLanes + `
select min(o.ready_at) from lane l cross join lateral (
    select r.ready_at from tekrar.ready r
    where r.queue = l.queue and r.priority = l.priority order by r.ready_at limit 1) o`

// OldestReady is the ready_at of the enqueued job that waits longest, paused
// queues included; nil when none waits.
func (db *DB) OldestReady(ctx context.Context) (at *time.Time, err error) {
	if err := db.QueryRowContext(ctx, db.sql(oldestReady), "").Scan(&at); err != nil {
		return nil, fmt.Errorf("oldest waiting job: %w", err)
	}
	return at, nil
}
