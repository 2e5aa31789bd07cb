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

func countsWith(ready, running string) string {
	return fmt.Sprintf(`
select %[5]s,
       (select count(*) from (select 1 from tekrar.awaiting limit %[1]d) a), %[7]s,
       %[4]s,
       %[6]s,
       s.n, s.more, d.n, d.more, `+deadRows+`
from %[2]s s cross join %[3]s d`, CountMax+1,
		finishedCount("h.state = 4", isLastRow), finishedCount("h.state = 6", isLastRow), failedCount, scheduledCount("true"), ready, running)
}

var allCounts = economical{
	usual: countsWith(fmt.Sprintf("(select count(*) from (select 1 from tekrar.ready limit %d) r)", CountMax+1),
		"(select count(*) from tekrar.running)"),
	bloated: "with " + knownLanes(0) + ", " + knownHeld(4) +
		countsWith("(select count(*) from "+waitingTo(CountMax+1, "true")+" r)", "(select coalesce(sum(n), 0)::bigint from held)"),
}

// Counts reads how many jobs stand in each state: what the unfiltered list of the
// state holds. Scheduled, processing and failed are exact: who is called at night has
// to see whether 12,000 retries wait or 300,000, and whether they get fewer, so those
// that pile up in an outage are counted as they come and go. Enqueued and awaiting are
// exact to 10,000, then AtLeast; succeeded and deleted to 1,000, and of those at most
// 8,000 history rows are looked at, so that after a mass requeue AtLeast may come with
// a smaller number. (Statistics would count farther, but attempts that succeeded ever,
// not the jobs in the list.)
//
// While a long transaction keeps more than 50,000 dead rows of ready or running from
// being removed, counting those that run takes a tenth of a second and more, and their
// number may then be twenty times as old as that, at most about fifteen seconds. A job
// in a queue or priority that had none for an hour is counted as late.
func (db *DB) Counts(ctx context.Context) (map[State]Count, error) {
	var scheduled, awaiting, running, failed, ready, succeeded, deleted, dead int64
	var moreSucceeded, moreDeleted bool
	text, args := db.asked(allCounts, lanesKnown|heldKnown)
	if err := db.QueryRowContext(ctx, text, args...).Scan(&scheduled, &awaiting, &running, &failed, &ready,
		&succeeded, &moreSucceeded, &deleted, &moreDeleted, &dead); err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	db.bloat.dead.Store(dead)
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
		Processing: hotCount("running", anyQueue+" and "+anyKind),
		Awaiting:   hotCount("awaiting", anyQueue+" and "+anyKind),
		Failed:     hotCount("failed", "queue = $1::text and kind = $2::text"),
		Scheduled:  "select " + scheduledCount(anyQueue+" and "+anyKind+" and ($3::smallint = 0 or cause = $3)") + ", false",
	}
	enqueuedCount = economical{
		usual:   hotCount("ready", anyQueue+" and "+anyKind),
		bloated: "with " + knownLanes(2) + countTo(waitingTo(CountMax+1, "($2::text = '' or r.kind = $2)")),
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
	return countTo(fmt.Sprintf(`(select 1 from tekrar.%s where %s limit %d)`, table, which, CountMax+1))
}

func countTo(rows string) string {
	return fmt.Sprintf("select least(count(*), %[1]d), count(*) > %[1]d from %[2]s m", CountMax, rows)
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
	text, args := db.sql(hotCounts[f.State]), []any{f.Queue, f.Kind}
	switch {
	case f.State == Enqueued:
		text, args = db.asked(enqueuedCount, lanesKnown, args...)
	case f.State == Scheduled:
		args = append(args, f.Cause)
	case f.State == Failed && f.Queue == "":
		text = db.sql(failedKindCount)
	case f.State == Failed && f.Kind == "":
		text = db.sql(failedQueueCount)
	case f.State == Succeeded || f.State == Deleted:
		args = append(args, f.State)
		if text = db.sql(anyKindCount); f.Kind != "" {
			text = db.sql(kindCount)
		}
	}
	if err := db.QueryRowContext(ctx, text, args...).Scan(&c.N, &c.AtLeast); err != nil {
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
