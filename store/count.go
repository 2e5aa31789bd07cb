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
// over millions of rows: some thousand index entries, a millisecond or two.
const CountMax = 10_000

// FinishedMax is how far succeeded and deleted jobs are counted. Each is a look at
// whether its row is its job's last, so that 10,000 took ten times as long as all the
// other counts together; and nobody acts on how many have succeeded, whose rates come
// from statistics.
const FinishedMax = 1000

// History rows a count of finished jobs may look at: after a mass requeue most of
// them belong to jobs that stand elsewhere by now. Reached before FinishedMax, the
// count is a lower bound too.
const countCandidatesMax = 8000

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
	select least(m.n, %[4]d) as n, case when m.n > %[4]d then true else (select count(*) from candidate) > %[5]d end as more
	from (select count(*) as n from (
		select 1 from candidate h where %[3]s limit %[4]d + 1) l) m)`,
		within, countCandidatesMax+1, listed, FinishedMax, countCandidatesMax)
}

var allCounts = fmt.Sprintf(`
select %[5]s,
       (select count(*) from (select 1 from tekrar.awaiting limit %[1]d) a), (select count(*) from tekrar.running),
       %[4]s,
       (select count(*) from (select 1 from tekrar.ready limit %[1]d) r),
       s.n, s.more, d.n, d.more
from %[2]s s cross join %[3]s d`, CountMax+1,
	finishedCount("h.state = 4", isLastRow), finishedCount("h.state = 6", isLastRow), failedCount, scheduledCount("true"))

// Counts reads how many jobs stand in each state: what the unfiltered list of the
// state holds. Scheduled, processing and failed are exact: who is called at night has
// to see whether 12,000 retries wait or 300,000, and whether they get fewer, so those
// that pile up in an outage are counted as they come and go. Enqueued and awaiting are
// exact to 10,000, then AtLeast; succeeded and deleted to 1,000, and of those at most
// 8,000 history rows are looked at, so that after a mass requeue AtLeast may come with
// a smaller number. (Statistics would count farther, but attempts that succeeded ever,
// not the jobs in the list.)
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
		Succeeded: {N: succeeded, AtLeast: moreSucceeded},
		Deleted:   {N: deleted, AtLeast: moreDeleted},
	}, nil
}

// Counts under a filter; $1 queue, $2 kind, $3 a cause. The candidates of finished
// jobs of one kind are one range of the index, of all kinds another. The index of failed
// jobs of a queue does not hold their kind.
var (
	hotCounts = map[State]string{
		Enqueued:   hotCount("ready", anyQueue+" and "+anyKind),
		Processing: hotCount("running", anyQueue+" and "+anyKind),
		Awaiting:   hotCount("awaiting", anyQueue+" and "+anyKind),
		Failed:     hotCount("failed", "queue = $1::text and kind = $2::text"),
		Scheduled:  "select " + scheduledCount(anyQueue+" and "+anyKind+" and ($3::smallint = 0 or cause = $3)") + ", false",
	}
	failedKindCount  = "select " + failedCountOf("$1::text = '' and "+anyKind) + ", false"
	failedQueueCount = hotCount("failed", "queue = $1::text and $2::text = ''")
	kindCount        = "select n, more from " + finishedCount("h.state = $3 and h.kind = $2::text", queueListed) + " c"
	anyKindCount     = "select n, more from " + finishedCount("h.state = $3 and $2::text = ''", queueListed) + " c"
)

const (
	anyQueue = "($1::text = '' or queue = $1)"
	anyKind  = "($2::text = '' or kind = $2)"
)

const queueListed = `($1::text = '' or h.queue = $1) and ` + isLastRow

func hotCount(table, which string) string {
	return fmt.Sprintf(`select least(count(*), %[1]d), count(*) > %[1]d from (
		select 1 from tekrar.%s where %s limit %[1]d + 1) m`, CountMax, table, which)
}

// CountJobs counts what the list of f holds, all its pages together. Scheduled jobs and
// failed ones of no certain queue are counted exactly, others to 10,000, then AtLeast;
// of succeeded and deleted jobs see Counts. f.After and f.Limit mean nothing here.
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
	case f.State == Failed && f.Queue == "":
		text = failedKindCount
	case f.State == Failed && f.Kind == "":
		text = failedQueueCount
	case f.State == Succeeded || f.State == Deleted:
		args = append(args, f.State)
		if text = anyKindCount; f.Kind != "" {
			text = kindCount
		}
	}
	if err := db.QueryRowContext(ctx, db.sql(text), args...).Scan(&c.N, &c.AtLeast); err != nil {
		return Count{}, fmt.Errorf("count %s jobs: %w", f.State, err)
	}
	return c, nil
}

// retrying is the number and the next due time of scheduled jobs that wait for a retry.
var retrying = scheduledCount("cause = 2") + `, (select run_at from tekrar.scheduled where cause = 2 order by run_at limit 1)`

// Retrying counts the scheduled jobs that wait for a retry (the list with
// CauseRetry), exactly, and says when the next of them is due; nil when none waits.
func (db *DB) Retrying(ctx context.Context) (n int64, next *time.Time, err error) {
	if err = db.QueryRowContext(ctx, db.sql("select "+retrying)).Scan(&n, &next); err != nil {
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
