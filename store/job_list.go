package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// JobFilter says which jobs a list or a count holds. Queue and Kind match
// exactly and literally; empty means any.
type JobFilter struct {
	State State // required
	Queue string
	Kind  string
	Cause Cause // of scheduled jobs only; 0 any. CauseRetry are the waiting retries
	// Group is the fingerprint of a group of failures; of failed jobs only, and with
	// the Kind of that group. Nil: any.
	Group *int64
	Query Query
	// Hidden is what text in Query, alone or as args:text, does not find. For paths
	// see CheckPaths.
	Hidden Hidden
	AsOf   time.Time // the now of ages in Query; zero: the database's now
	After  Cursor    // of the page before; zero for the first page
	Limit  int       // rows a page; 0 or less means 50, more than 500 means 500
}

// Enqueued jobs have an index for claims only, (queue, priority, ready_at): a
// page merges its lanes. The lanes come from the index itself, one probe each.
const readyLanes = `
lane as (
    (select f.queue, f.priority
     from (select queue, priority from tekrar.ready where queue >= $1::text order by queue, priority limit 1) f
     where $1 = '' or f.queue = $1)
    union all
    select n.queue, n.priority
    from lane l cross join lateral (
        select r.queue, r.priority from tekrar.ready r
        where (r.queue, r.priority) > (l.queue, l.priority)
        order by r.queue, r.priority limit 1) n
    where $1 = '' or n.queue = $1
)`

// Parameters of each: $1 queue, $2 kind, $3 and $4 the place to go on from,
// $5 rows. The row comparison and the order end alike, job_id last, so that rows
// of one instant are neither lost nor shown twice at a page boundary.
var hotPages = map[State]string{
	Enqueued: `
		select m.* from lane l cross join lateral (` + fromReady + `
			where r.queue = l.queue and r.priority = l.priority
			  and (r.ready_at, r.job_id) > ($3::timestamptz, $4::bigint) and ($2::text = '' or r.kind = $2)
			order by r.ready_at, r.job_id limit $5) m
		order by m.since, m.job_id limit $5`,

	Processing: fromRunning + `
		where (r.started_at, r.job_id) > ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or r.queue = $1) and ($2::text = '' or r.kind = $2)
		order by r.started_at, r.job_id limit $5`,

	Scheduled: fromScheduled + `
		where (s.run_at, s.job_id) > ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or s.queue = $1) and ($2::text = '' or s.kind = $2)
		  and ($6::smallint = 0 or s.cause = $6)
		order by s.run_at, s.job_id limit $5`,

	Awaiting: fromAwaiting + `
		where (a.since, a.job_id) > ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or a.queue = $1) and ($2::text = '' or a.kind = $2)
		order by a.since, a.job_id limit $5`,

	Failed: fromFailed + `
		where (f.failed_at, f.job_id) < ($3::timestamptz, $4::bigint)
		  and ($1::text = '' or f.queue = $1) and ($2::text = '' or f.kind = $2)
		order by f.failed_at desc, f.job_id desc limit $5`,
}

// A group of failures is a range of an index of its own; $6 fingerprint.
const groupPage = fromFailed + `
	where f.kind = $2::text and f.fingerprint = $6::bigint and ($1::text = '' or f.queue = $1)
	  and (f.failed_at, f.job_id) < ($3::timestamptz, $4::bigint)
	order by f.failed_at desc, f.job_id desc limit $5`

var (
	hotLists = map[State]string{
		Enqueued:   hotList(hotPages[Enqueued], "p.since, p.job_id"),
		Processing: hotList(hotPages[Processing], "p.since, p.job_id"),
		Scheduled:  hotList(hotPages[Scheduled], "p.run_at, p.job_id"),
		Awaiting:   hotList(hotPages[Awaiting], "p.since, p.job_id"),
		Failed:     hotList(hotPages[Failed], failedOrder),
	}
	groupList = hotList(groupPage, failedOrder)
)

const failedOrder = "p.since desc, p.job_id desc"

func hotList(page, order string) string {
	return withPage("page", page) + jobRows + "order by " + order
}

// withPage begins a statement with a page as a CTE of that name.
func withPage(name, page string) string {
	if page == hotPages[Enqueued] {
		return "with recursive" + readyLanes + ", " + name + " as materialized (" + page + ")"
	}
	return "with " + name + " as materialized (" + page + ")"
}

// Jobs reads one page of the jobs in one state. Enqueued jobs come by ready_at,
// scheduled ones by run_at, processing ones by start, awaiting ones by
// enqueue, oldest first; failed,
// succeeded and deleted ones newest first; equal times by id.
//
// next continues the list and is zero after the last page. A page of succeeded
// or deleted jobs may be short, even empty, while next is not zero: each call
// looks at about 10,000 history rows at most, so that a rare queue among millions
// of jobs costs more pages, not a slow one. With a Query that holds for every
// state, and the bound is one of time.
//
// ErrBadCursor when After belongs to another state's list.
func (db *DB) Jobs(ctx context.Context, f JobFilter) (rows []JobRow, next Cursor, err error) {
	if err := f.check(); err != nil {
		return nil, Cursor{}, err
	}
	at, id, err := f.After.after(f.State)
	if err != nil || f.impossible() {
		return nil, Cursor{}, err
	}
	limit := f.limit()
	if !f.Query.IsZero() {
		return db.search(ctx, f, at, id, limit)
	}
	if f.State == Succeeded || f.State == Deleted {
		return db.finished(ctx, f, id, limit)
	}
	text, args := hotLists[f.State], f.pageArgs(at, id, limit+1)
	if f.Group != nil {
		text = groupList
	}
	if err := db.SelectContext(ctx, &rows, db.sql(text), args...); err != nil {
		return nil, Cursor{}, fmt.Errorf("list %s jobs: %w", f.State, err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursorAt(rows[limit-1])
	}
	return rows, next, nil
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

func (f JobFilter) limit() int {
	if f.Limit <= 0 {
		return 50
	}
	return min(f.Limit, 500)
}

func (f JobFilter) check() error {
	if !slices.Contains(States, f.State) {
		return fmt.Errorf("job filter: unknown %s", f.State)
	}
	if f.Cause != 0 && f.State != Scheduled {
		return fmt.Errorf("job filter: cause is known of scheduled jobs only, not of %s ones", f.State)
	}
	if f.Group != nil && (f.State != Failed || f.Kind == "") {
		return fmt.Errorf("job filter: a group is one of failed jobs of one kind")
	}
	return nil
}

// impossible: text that no column can hold matches no job; as a parameter
// Postgres would refuse it (22021).
func (f JobFilter) impossible() bool {
	for _, text := range []string{f.Queue, f.Kind} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return true
		}
	}
	return false
}
