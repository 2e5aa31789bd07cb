package store

import "time"

// Parameters of each: $1 queue, $2 kind, $3 and $4 the place to go on from,
// $5 rows. The row comparison and the order end alike, job_id last, so that rows
// of one instant are neither lost nor shown twice at a page boundary.
var hotPages = map[State]string{
	Enqueued: `
		select m.* from lane l cross join lateral (` + fromReady + `
			where ` + inLane + `
			  and (r.ready_at, r.job_id) > ($3::timestamptz, $4::bigint) and ($2::text = '' or r.kind = $2)
			order by r.ready_at, r.job_id limit $5) m
		order by m.since, m.job_id limit $5`,

	Processing: fromRunning + `
		where (r.started_at, r.job_id) > ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or r.queue = $1) and ($2::text = '' or r.kind = $2)
		order by r.started_at, r.job_id limit $5`,

	Scheduled: scheduledPage("true"),

	Awaiting: fromAwaiting + `
		where (a.since, a.job_id) > ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or a.queue = $1) and ($2::text = '' or a.kind = $2)
		order by a.since, a.job_id limit $5`,

	Failed: failedPage("true"),
}

// Pages under a filter that an index of its own serves: without one, a kind or queue
// of few jobs would be looked for among all of the state's. $6 is a cause of
// scheduled jobs, the fingerprint of a group.
var (
	scheduledOfKind = scheduledPage("s.kind = $2::text")
	retryPage       = scheduledPage("s.cause = 2")
	failedOfKind    = failedPage("f.kind = $2::text")
	failedInQueue   = failedPage("f.queue = $1::text")
	groupPage       = failedPage("f.kind = $2::text and f.fingerprint = $6::bigint")

	// A queue has few kinds, and what is kept of scheduled jobs says which.
	scheduledInQueue = `
		select m.* from (
			select kind from (
				select kind, n from tekrar.scheduled_counts where queue = $1::text
				union all select kind, n from tekrar.scheduled_changes where queue = $1) c
			group by kind having sum(n) > 0) k cross join lateral (` + scheduledPage("s.kind = k.kind") + `) m
		order by m.run_at, m.job_id limit $5`
)

func scheduledPage(within string) string {
	return fromScheduled + `
		where ` + within + ` and (s.run_at, s.job_id) > ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or s.queue = $1) and ($2::text = '' or s.kind = $2)
		  and ($6::smallint = 0 or s.cause = $6)
		order by s.run_at, s.job_id limit $5`
}

func failedPage(within string) string {
	return fromFailed + `
		where ` + within + ` and (f.failed_at, f.job_id) < ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or f.queue = $1) and ($2::text = '' or f.kind = $2)
		order by f.failed_at desc, f.job_id desc limit $5`
}

// page is the page of a hot table that looks at the fewest rows beside those of f.
func (f JobFilter) page() string {
	switch {
	case f.Group != nil:
		return groupPage
	case f.State == Failed && f.Kind != "":
		return failedOfKind
	case f.State == Failed && f.Queue != "":
		return failedInQueue
	case f.State == Scheduled && f.Kind != "":
		return scheduledOfKind
	case f.State == Scheduled && f.Queue != "":
		return scheduledInQueue
	case f.State == Scheduled && f.Cause == CauseRetry:
		return retryPage
	}
	return hotPages[f.State]
}

// pageArgs are the parameters of a hot page.
func (f JobFilter) pageArgs(at time.Time, id int64, rows int) []any {
	args := []any{f.Queue, f.Kind, at, id, rows}
	switch {
	case f.State == Scheduled:
		args = append(args, f.Cause)
	case f.Group != nil:
		args = append(args, *f.Group)
	}
	return args
}

// hotOrder is the order of a page's rows once more: completing them need not keep it.
var hotOrder = map[State]string{
	Enqueued: "p.since, p.job_id", Processing: "p.since, p.job_id", Awaiting: "p.since, p.job_id",
	Scheduled: "p.run_at, p.job_id", Failed: "p.since desc, p.job_id desc",
}

func hotList(page, order string) string {
	return withPage("page", page) + jobRows + "order by " + order
}

// withPage begins a statement with a page as a CTE of that name.
func withPage(name, page string) string {
	if page == hotPages[Enqueued] {
		return withLanes(walkedLanes, name)
	}
	return "with " + name + " as materialized (" + page + ")"
}

// withLanes is withPage for enqueued jobs.
func withLanes(lanes, name string) string {
	return "with recursive" + lanes + ", " + name + " as materialized (" + hotPages[Enqueued] + ")"
}

// enqueuedList is hotList of enqueued jobs.
var enqueuedList = economical{
	usual:   hotList(hotPages[Enqueued], hotOrder[Enqueued]),
	bloated: withLanes(knownLanes(5), "page") + jobRows + "order by " + hotOrder[Enqueued],
}

// hotStatement is the list of f with its parameters.
func (db *DB) hotStatement(f JobFilter, at time.Time, id int64, rows int) (text string, args []any) {
	args = f.pageArgs(at, id, rows)
	if f.State == Enqueued {
		return db.asked(enqueuedList, lanesKnown, args...)
	}
	return db.sql(hotList(f.page(), hotOrder[f.State])), args
}
