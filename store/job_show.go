package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// JobDetail is everything a job's page shows.
type JobDetail struct {
	JobRow
	Args json.RawMessage // as stored, all digits kept
	// Policy is the effective one: the job's own, else its kind's, else nil.
	Policy     json.RawMessage
	PolicyFrom string // "job", "kind", or "" when no server has published the kind
	TimeoutMS  *int64 // the job's own, else its kind's; nil: none
	Tags       []string
	StuckAt    *time.Time // processing, and past its timeout since then
	// Cancel is the request to end the running attempt, nil if none was made or the
	// attempt has ended; CancelIgnored: it runs on for CancelPatience since its server
	// acknowledged the request, or since the request when none has.
	Cancel        *CancelRequest
	CancelIgnored bool
	// RecurringID names the recurring job that made it, empty if none did; FireAt is
	// the due time that it stands for.
	RecurringID string
	FireAt      *time.Time
	Progress    *Progress // that the handler reported; nil: none
	History     []HistoryRow
	// HistoryTotal counts all rows of the job, late ones included.
	HistoryTotal int
}

const jobDetail = `
select j.args, coalesce(j.policy, k.policy) as policy,
       case when j.policy is not null then 'job' when k.kind is not null then 'kind' else '' end as policy_from,
       coalesce(j.timeout_ms, k.timeout_ms) as timeout_ms, coalesce(j.tags, '{}') as tags,
       coalesce(j.recurring_id, '') as recurring_id, j.fire_at,
       r.stuck_at, r.cancel_requested_at, coalesce(r.cancel_requested_by, ''), r.cancel_acknowledged_at,
       coalesce(clock_timestamp() - coalesce(r.cancel_acknowledged_at, r.cancel_requested_at) >= $2 * interval '1 microsecond', false) as cancel_ignored,
       (select count(*) from tekrar.history h where h.job_id = j.id) as history_total,
       p.attempt, p.at, coalesce(p.done, 0), coalesce(p.total, 0), coalesce(p.message, '')
from tekrar.jobs j
left join lateral (select kind, policy, timeout_ms from tekrar.kinds where kind = j.kind offset 0) k on true
left join lateral (select stuck_at, cancel_requested_at, cancel_requested_by, cancel_acknowledged_at from tekrar.running where job_id = j.id offset 0) r on true
left join lateral (select attempt, at, done, total, message from tekrar.job_progress where job_id = j.id offset 0) p on true
where j.id = $1`

// CancelPatience is how long a handler has to react to a cancel request before it
// is said to ignore it.
const CancelPatience = 30 * time.Second

// Job reads one job with its newest historyLimit history rows (0 or less: 50, at
// most 500), newest first; before, when not 0, is the id of a history row: only
// older rows are read, for the next page. All parts are of one moment.
// ErrNotFound when there is no such job.
func (db *DB) Job(ctx context.Context, id int64, historyLimit int, before int64) (d JobDetail, err error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	err = db.snapshot(ctx, func(tx *sqlx.Tx) error {
		var rows []JobRow
		if err := tx.SelectContext(ctx, &rows, db.sql(jobRowsByID), pq.Array([]int64{id})); err != nil {
			return err
		}
		if len(rows) == 0 {
			return ErrNotFound
		}
		d.JobRow = rows[0]
		var args, policy []byte
		var askedAt, acknowledgedAt *time.Time
		var askedBy string
		var said struct {
			Progress
			attempt *int
			at      *time.Time
		}
		err := tx.QueryRowxContext(ctx, db.sql(jobDetail), id, CancelPatience.Microseconds()).
			Scan(&args, &policy, &d.PolicyFrom, &d.TimeoutMS, pq.Array(&d.Tags), &d.RecurringID, &d.FireAt, &d.StuckAt,
				&askedAt, &askedBy, &acknowledgedAt, &d.CancelIgnored, &d.HistoryTotal, &said.attempt, &said.at, &said.Done, &said.Total, &said.Message)
		if err != nil {
			return err
		}
		if askedAt != nil {
			d.Cancel = &CancelRequest{At: *askedAt, By: askedBy, AcknowledgedAt: acknowledgedAt}
		}
		if said.at != nil {
			said.JobID, said.Attempt, said.At = id, *said.attempt, *said.at
			d.Progress = &said.Progress
		}
		d.Args, d.Policy = args, policy
		d.History, err = db.history(ctx, tx, id, JobFilter{Limit: historyLimit}.limit(), before)
		return err
	})
	if err != nil {
		return JobDetail{}, fmt.Errorf("read job %d: %w", id, err)
	}
	return d, nil
}
