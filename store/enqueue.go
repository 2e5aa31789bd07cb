package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"
)

// NewJob is one job to enqueue. Args is a JSON object on one line (no raw
// newline: many jobs travel as one newline-joined text, because array escaping
// of long JSON costs more than the insert).
type NewJob struct {
	Queue, Kind string
	Priority    int16
	Args        string
	Policy      string        // JSON; empty: the kind's
	Timeout     time.Duration // 0: the kind's
	At          time.Time     // zero: now; a past time is now
	In          time.Duration // from the database's clock; 0 or less: now
	Tags        []string
	Unique      *Unique   // nil: none; needs EnqueueUnique
	RecurringID string    // the recurring job that made it; empty: none
	FireAt      time.Time // the due time that it stands for; only with RecurringID
	Parent      int64     // the job to wait for, 0: none; needs a transaction, and excludes At and In
	Condition   Condition // with Parent
	Trace       string    // traceparent, newline, tracestate; empty: not traced
}

// Created is what became of a NewJob.
type Created struct {
	ID        int64
	State     State
	Duplicate bool // of a job that holds the unique key: ID and State are that job's
}

// enqueueInput lays the arrays out as rows and inserts the jobs. columns and arrays
// are those that one statement has beyond all others: ", name" and ", unnest($n)".
// Seconds apart from microseconds: an interval is multiplied as a float, which has no
// room for the microseconds of far years.
func enqueueInput(columns, arrays string) string {
	return `input as materialized (
select nextval('tekrar.jobs_id_seq') as job_id, clock_timestamp() as at,
       case when i.at_us > 0 then 'epoch'::timestamptz + i.at_us / 1000000 * interval '1 second' + i.at_us % 1000000 * interval '1 microsecond'
            when i.in_us > 0 then clock_timestamp() + i.in_us * interval '1 microsecond' end as run_at,
       ($5::text[])[i.spec] as queue, ($6::text[])[i.spec] as kind, ($7::smallint[])[i.spec] as priority,
       nullif(($8::bigint[])[i.spec], 0) as timeout_ms, nullif(($9::text[])[i.spec], '')::jsonb as policy,
       nullif(($12::text[])[i.spec], '')::text[] as tags, nullif(($13::text[])[i.spec], '') as recurring_id,
       'epoch'::timestamptz + nullif(($14::bigint[])[i.spec], 0) * interval '1 microsecond' as fire_at, nullif(($15::text[])[i.spec], '') as trace,
       i.args::jsonb as args, i.ord` + columns + `
from rows from (string_to_table($1, E'\n'), unnest($2::integer[]), unnest($3::bigint[]), unnest($4::bigint[])` + arrays + `)
     with ordinality as i(args, spec, at_us, in_us` + columns + `, ord)
), new_jobs as (
insert into tekrar.jobs (id, created_at, timeout_ms, fire_at, priority, queue, kind, args, policy, tags, recurring_id, trace` + columns + `)
select job_id, at, timeout_ms, fire_at, priority, queue, kind, args, policy, tags, recurring_id, trace` + columns + ` from input
), `
}

var enqueueHead = enqueueInput("", "") + moved("input", map[string]string{
	"state":   "case when s.run_at > s.at then 1::smallint else 2::smallint end",
	"at":      "s.at",
	"run_at":  "s.run_at",
	"cause":   "1::smallint",
	"attempt": "0", "retry": "0", "snoozes": "0", "losses": "0::smallint",
	"data": "case when s.run_at > s.at then jsonb_build_object('run_at', s.run_at) end",
})

// The notification is referenced by the final select: a CTE that nobody reads never runs.
const enqueueFinal = `select
  (select array_agg(job_id order by ord) from input),
  (select array_agg((case when run_at > at then 1 else 2 end)::smallint order by ord) from input),
  (select count(pg_notify($10, 'q' || q)) from unnest($11::text[]) q)`

var (
	enqueueStatement = transition(enqueueHead, toReady|toScheduled, enqueueFinal)
	// Jobs for now alone do not touch scheduled, whose trigger would be called for nothing.
	enqueueNow = transition(enqueueHead, toReady, enqueueFinal)
)

func enqueueOf(jobs []NewJob) string {
	if slices.ContainsFunc(jobs, func(j NewJob) bool { return !j.At.IsZero() || j.In > 0 }) {
		return enqueueStatement
	}
	return enqueueNow
}

// enqueueArgs lays a batch out as arrays: what jobs share is sent once.
func (db *DB) enqueueArgs(jobs []NewJob, wake []string) []any {
	type spec struct {
		queue, kind, policy, tags, recurring, trace string
		priority                                    int16
		timeout, fire                               int64
	}
	var (
		args    strings.Builder
		specOf  = make(map[spec]int32, 1)
		index   = make([]int32, len(jobs))
		at, in  = make([]int64, len(jobs)), make([]int64, len(jobs))
		queues  []string
		kinds   []string
		prio    []int64
		timeout []int64
		policy  []string
		tags    []string // each an array in Postgres' text form
		recur   []string
		fire    []int64
		trace   []string
	)
	for i, j := range jobs {
		if i > 0 {
			args.WriteByte('\n')
		}
		args.WriteString(j.Args)
		s := spec{j.Queue, j.Kind, j.Policy, arrayText(j.Tags), j.RecurringID, j.Trace, j.Priority, j.Timeout.Milliseconds(), 0}
		if j.RecurringID != "" {
			s.fire = j.FireAt.UnixMicro()
		}
		n, ok := specOf[s]
		if !ok {
			n = int32(len(queues)) + 1
			specOf[s] = n
			queues, kinds = append(queues, s.queue), append(kinds, s.kind)
			policy, tags = append(policy, s.policy), append(tags, s.tags)
			prio, timeout = append(prio, int64(s.priority)), append(timeout, s.timeout)
			recur, fire, trace = append(recur, s.recurring), append(fire, s.fire), append(trace, s.trace)
		}
		index[i] = n
		if !j.At.IsZero() {
			at[i] = j.At.UnixMicro()
		}
		in[i] = j.In.Microseconds()
	}
	return []any{args.String(), pq.Array(index), pq.Array(at), pq.Array(in),
		pq.Array(queues), pq.Array(kinds), pq.Array(prio), pq.Array(timeout), pq.Array(policy),
		db.jobsChannel(), pq.Array(wake), pq.Array(tags), pq.Array(recur), pq.Array(fire), pq.Array(trace)}
}

// arrayText is a list in the text form of a Postgres array, "" for none.
func arrayText(list []string) string {
	if len(list) == 0 {
		return ""
	}
	text, _ := pq.StringArray(list).Value()
	return text.(string)
}

func scanCreated(scan func(...any) error, n int) ([]Created, error) {
	var ids pq.Int64Array
	var states pq.Int64Array
	var notified int64
	if err := scan(&ids, &states, &notified); err != nil {
		return nil, fmt.Errorf("enqueue: %w", err)
	}
	if len(ids) != n {
		return nil, fmt.Errorf("enqueue: %d of %d jobs came back", len(ids), n)
	}
	created := make([]Created, n)
	for i := range ids {
		created[i] = Created{ID: ids[i], State: State(states[i])}
	}
	return created, nil
}

// EnqueueIn enqueues inside the caller's transaction: the jobs are invisible
// until it commits and gone if it rolls back. wake names the queues to notify
// (delivered at commit). Jobs with a parent need one that is there: else *NoParentError.
func (db *DB) EnqueueIn(ctx context.Context, q Querier, jobs []NewJob, wake []string) ([]Created, error) {
	if slices.ContainsFunc(jobs, func(j NewJob) bool { return j.Parent != 0 }) {
		return db.enqueueAfter(ctx, q, jobs, wake)
	}
	row := q.QueryRowContext(ctx, db.sql(enqueueOf(jobs)), db.enqueueArgs(jobs, wake)...)
	return scanCreated(row.Scan, len(jobs))
}

// Enqueue enqueues all jobs or none in one statement of its own. If the
// connection breaks before the answer, the outcome is unknown: the error wraps
// the connection's, and the jobs may or may not be there.
func (db *DB) Enqueue(ctx context.Context, jobs []NewJob, wake []string) (created []Created, err error) {
	text, args := db.sql(enqueueOf(jobs)), db.enqueueArgs(jobs, wake)
	err = db.enqueuers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error {
			created, err = scanCreated(r.Scan, len(jobs))
			return err
		}, args...)
	})
	if err != nil { // rows arrive before the commit: what they say may not have come true
		return nil, err
	}
	return created, nil
}
