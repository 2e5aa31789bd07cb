package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// Priorities lists the priorities of a job, most urgent first.
var Priorities = []int16{4, 3, 2, 1, 0, -1, -2, -3, -4}

// Lane is one (queue, priority): the claim walks each in ready_at order.
type Lane struct {
	Queue    string
	Priority int16
	After    time.Time // ready_at from which to look; zero: from the start
}

// Claimed is a job taken to run it. (ID, Attempt, server) is its token.
type Claimed struct {
	ID                            int64
	Attempt, Retry, Snoozes       int
	Losses                        int
	Priority                      int16
	Queue, Kind                   string
	Args                          string
	Policy                        string        // JSON; empty: the kind's
	Timeout                       time.Duration // 0: the kind's
	CreatedAt, ReadyAt, StartedAt time.Time
	RecurringID                   string    // the recurring job that made it; empty: none
	FireAt                        time.Time // its due time; zero without RecurringID
	Trace                         string    // as in NewJob
}

// Lanes are listed, so that a paused queue is never scanned. Picking by ctid
// keeps the order and the access path fixed whatever the table's statistics
// say. A server whose lease has ended claims nothing: it would be reclaimed at once.
// A row whose attempt cannot grow is left: it would fail the claim of all others.
var claimHead = `lane as materialized (
select l.queue, l.priority, l.after_us
from rows from (unnest($2::text[]), unnest($3::smallint[]), unnest($4::bigint[])) as l(queue, priority, after_us)
where exists (select 1 from tekrar.servers s where s.id = $1 and s.lost_at is null and s.stopped_at is null and s.lease_until > clock_timestamp())
  and not exists (select 1 from tekrar.queues q where q.name = l.queue and q.paused_at is not null)
), pick as materialized (
select r.ctid from lane cross join lateral (
  select ready.ctid from tekrar.ready
  where ready.queue = lane.queue and ready.priority = lane.priority
    and ready.ready_at >= 'epoch'::timestamptz + lane.after_us * interval '1 microsecond'
    and ready.kind = any($5::text[]) and ready.attempt < 2147483647
  order by ready.ready_at limit $6 for update skip locked) r
limit $6
), taken as (
delete from tekrar.ready where ctid = any(array(select ctid from pick))
returning job_id, ready_at, attempt + 1 as attempt, retry, snoozes, losses, priority, queue, kind, clock_timestamp() as at
), ` + moved("taken", map[string]string{
	"at":         "s.at",
	"state":      "3::smallint",
	"server":     "$1",
	"latency_us": "greatest(0, date_part('epoch', s.at - s.ready_at) * 1000000)::bigint",
})

const claimedColumns = `j.args::text, coalesce(j.policy::text, ''), coalesce(j.timeout_ms, 0), (date_part('epoch', j.created_at) * 1000000)::bigint,
  coalesce(j.recurring_id, ''), coalesce((date_part('epoch', j.fire_at) * 1000000)::bigint, 0), coalesce(j.trace, '')`

var claimStatement = transition(claimHead, toRunning, `select t.job_id, t.attempt, t.retry, t.snoozes, t.losses, t.priority, t.queue, t.kind,
  (date_part('epoch', t.ready_at) * 1000000)::bigint, (date_part('epoch', t.at) * 1000000)::bigint, j.*
from taken t cross join lateral (select `+claimedColumns+` from tekrar.jobs j where j.id = t.job_id offset 0) j`)

// Claim takes up to limit jobs of the lanes for the server, most urgent lane
// first, only of the given kinds. It returns after the commit: work started
// earlier could settle before its claim exists.
func (db *DB) Claim(ctx context.Context, server int64, lanes []Lane, kinds []string, limit int) (claimed []Claimed, err error) {
	text, args := db.sql(claimStatement), claimArgs(server, lanes, kinds, limit)
	err = db.claimers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error { return scanClaimed(r, &claimed) }, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return claimed, nil
}

func claimArgs(server int64, lanes []Lane, kinds []string, limit int) []any {
	queues, priorities, after := make([]string, len(lanes)), make([]int64, len(lanes)), make([]int64, len(lanes))
	for i, l := range lanes {
		queues[i], priorities[i] = l.Queue, int64(l.Priority)
		if !l.After.IsZero() {
			after[i] = l.After.UnixMicro()
		}
	}
	return []any{server, pq.Array(queues), pq.Array(priorities), pq.Array(after), pq.Array(kinds), limit}
}

const heldStatement = `select r.job_id, r.attempt, r.retry, r.snoozes, r.losses, r.priority, r.queue, r.kind,
  (date_part('epoch', r.started_at) * 1000000)::bigint, (date_part('epoch', r.started_at) * 1000000)::bigint, j.*
from tekrar.running r cross join lateral (select ` + claimedColumns + ` from tekrar.jobs j where j.id = r.job_id offset 0) j
where r.server = $1 and not (r.job_id = any(coalesce($2::bigint[], '{}')))`

// Held returns what the server holds beyond the known ids: after a claim whose
// answer was lost, the jobs that it took all the same.
func (db *DB) Held(ctx context.Context, server int64, known []int64) (held []Claimed, err error) {
	text := db.sql(heldStatement)
	err = db.claimers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error { return scanClaimed(r, &held) }, server, pq.Array(known))
	})
	if err != nil {
		return nil, fmt.Errorf("look up held jobs: %w", err)
	}
	return held, nil
}

// Running returns what the server holds. It may take long past many dead rows, and keeps
// no claim waiting.
func (db *DB) Running(ctx context.Context, server int64) (held []Token, err error) {
	text := db.sql(`select job_id, attempt from tekrar.running where server = $1`)
	err = db.scanners().with(ctx, func(s *session) error {
		return s.query(ctx, text, scanTokens(&held), server)
	})
	if err != nil {
		return nil, fmt.Errorf("look up held jobs: %w", err)
	}
	return held, nil
}

func scanClaimed(r *sql.Rows, to *[]Claimed) error {
	var c Claimed
	var timeoutMS, created, ready, started, fire int64
	if err := r.Scan(&c.ID, &c.Attempt, &c.Retry, &c.Snoozes, &c.Losses, &c.Priority, &c.Queue, &c.Kind,
		&ready, &started, &c.Args, &c.Policy, &timeoutMS, &created, &c.RecurringID, &fire, &c.Trace); err != nil {
		return err
	}
	c.Timeout = time.Duration(timeoutMS) * time.Millisecond
	c.CreatedAt, c.ReadyAt, c.StartedAt = time.UnixMicro(created), time.UnixMicro(ready), time.UnixMicro(started)
	if fire != 0 {
		c.FireAt = time.UnixMicro(fire).UTC()
	}
	*to = append(*to, c)
	return nil
}
