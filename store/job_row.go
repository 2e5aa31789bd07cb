package store

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// JobRow is a job as lists show it.
type JobRow struct {
	ID    int64  `db:"id"`
	Kind  string `db:"kind"`
	Queue string `db:"queue"`
	State State  `db:"state"`
	// Attempt counts starts: the present one while processing, else the last one.
	// For enqueued and scheduled jobs the coming one is Attempt + 1.
	Attempt int `db:"attempt"`
	// Retry and Losses are counted while a job can still run; 0 for succeeded and
	// deleted jobs, which keep no counters.
	Retry    int `db:"retry"`
	Losses   int `db:"losses"`
	Priority int `db:"priority"`
	// Since is when the job came into its state; for enqueued jobs ready_at, by
	// which they are claimed.
	Since time.Time  `db:"since"`
	RunAt *time.Time `db:"run_at"` // scheduled jobs only
	Cause Cause      `db:"cause"`  // scheduled jobs only, else 0
	// Server is the name of the server that runs the job; of other jobs the one
	// that the last history row names (whose attempt ended there). Nil: none, or
	// its row is gone.
	Server    *string `db:"server"`
	ErrorType string  `db:"error_type"` // failed jobs only
	ErrorLine string  `db:"error_line"` // failed jobs only
	Reason    string  `db:"reason"`
	// HistoryID is the last history row that is not late; it only grows, so a
	// screen can tell the older of two pictures of a job.
	HistoryID int64 `db:"history_id"`
	// MaxRetries of the job's own policy, else of its kind; nil when no server
	// has published the kind yet.
	MaxRetries *int      `db:"max_retries"`
	CreatedAt  time.Time `db:"created_at"`
}

// Where a job stands, in the same columns for each state. A page holds such rows.
const (
	fromReady = `select r.job_id, 2::smallint as state, r.kind, r.queue, r.attempt, r.retry, r.losses,
		r.priority, r.ready_at as since, null::timestamptz as run_at, 0::smallint as cause,
		null::bigint as server, '' as error_type, '' as error_line, null::bigint as history_id
		from tekrar.ready r `
	fromRunning = `select r.job_id, 3::smallint as state, r.kind, r.queue, r.attempt, r.retry, r.losses,
		r.priority, r.started_at as since, null::timestamptz as run_at, 0::smallint as cause,
		r.server, '' as error_type, '' as error_line, null::bigint as history_id
		from tekrar.running r `
	fromScheduled = `select s.job_id, 1::smallint as state, s.kind, s.queue, s.attempt, s.retry, s.losses,
		s.priority, null::timestamptz as since, s.run_at, s.cause,
		null::bigint as server, '' as error_type, '' as error_line, null::bigint as history_id
		from tekrar.scheduled s `
	fromAwaiting = `select a.job_id, -1::smallint as state, a.kind, a.queue, 0 as attempt, 0 as retry, 0::smallint as losses,
		a.priority, a.since, null::timestamptz as run_at, 0::smallint as cause,
		null::bigint as server, '' as error_type, '' as error_line, null::bigint as history_id
		from tekrar.awaiting a `
	fromFailed = `select f.job_id, 5::smallint as state, f.kind, f.queue, f.attempt, f.retry, f.losses,
		f.priority, f.failed_at as since, null::timestamptz as run_at, 0::smallint as cause,
		null::bigint as server, f.error_type, f.error_line, null::bigint as history_id
		from tekrar.failed f `
	fromHistory = `select h.job_id, h.state, h.kind, h.queue, h.attempt, 0 as retry, 0::smallint as losses,
		null::smallint as priority, h.at as since, null::timestamptz as run_at, 0::smallint as cause,
		h.server, '' as error_type, '' as error_line, h.id as history_id
		from tekrar.history h `
)

// jobRows completes the rows of a CTE named page. Lateral with offset 0 keeps
// each look-up an index probe a row; joined plainly, a page once became a hash
// join over all jobs.
const jobRows = `
select p.job_id as id, p.kind, p.queue, p.state, p.attempt, p.retry, p.losses,
       coalesce(p.priority, j.priority) as priority,
       coalesce(p.since, l.at) as since, p.run_at, p.cause, s.name as server,
       p.error_type, p.error_line, coalesce(l.reason, '') as reason, l.id as history_id,
       coalesce(case when j.policy ->> 'max_retries' ~ '^[0-9]{1,9}$' then (j.policy ->> 'max_retries')::integer end,
                k.max_retries) as max_retries, j.created_at
from page p
cross join lateral (
    select priority, policy, created_at from tekrar.jobs where id = p.job_id offset 0) j
cross join lateral (
    select id, at, reason, server from tekrar.history
    where job_id = p.job_id and state <= 6 and id <= coalesce(p.history_id, 9223372036854775807)
    order by id desc limit 1) l
left join lateral (
    select max_retries from tekrar.kinds where kind = p.kind offset 0) k on true
left join lateral (
    select name from tekrar.servers where id = coalesce(p.server, l.server) offset 0) s on true
`

// whereItStands finds a job u by id, whatever its state.
const whereItStands = `
        (` + fromReady + `where r.job_id = u.id)
        union all (` + fromRunning + `where r.job_id = u.id)
        union all (` + fromScheduled + `where s.job_id = u.id)
        union all (` + fromFailed + `where f.job_id = u.id)
        union all (` + fromAwaiting + `where a.job_id = u.id)
        union all (select * from (` + fromHistory + `where h.job_id = u.id and h.state <= 6
                    order by h.id desc limit 1) last where last.state in (4, 6))
        limit 1`

const jobRowsByID = `
with page as materialized (
    select st.* from unnest($1::bigint[]) u(id)
    cross join lateral (` + whereItStands + `
    ) st
)` + jobRows + `order by p.job_id`

// JobRows reads jobs by id, whatever their state, ordered by id. Ids without a
// job are left out.
func (db *DB) JobRows(ctx context.Context, ids []int64) ([]JobRow, error) {
	var rows []JobRow
	err := db.SelectContext(ctx, &rows, db.sql(jobRowsByID), pq.Array(ids))
	return rows, err
}
