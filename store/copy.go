package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// Original is what a copy of a job takes over, and where the job stands.
type Original struct {
	ID       int64
	Kind     string
	Queue    string
	Priority int16
	Args     json.RawMessage // as stored, all digits kept
	Policy   json.RawMessage // the job's own; nil: the kind's
	Timeout  time.Duration   // the job's own; 0: the kind's
	Tags     []string
	State    State
	Attempt  int // starts so far
}

// Original reads what a copy of the job takes over; ErrNotFound.
func (db *DB) Original(ctx context.Context, q Querier, id int64) (o Original, err error) {
	var args, policy []byte
	var timeout int64
	err = q.QueryRowContext(ctx, db.sql(`select j.id, j.kind, j.queue, j.priority, j.args, j.policy, coalesce(j.timeout_ms, 0), coalesce(j.tags, '{}'), l.state, l.attempt
from tekrar.jobs j cross join lateral (select state, attempt from tekrar.history where job_id = j.id and state <= 6 order by id desc limit 1) l
where j.id = $1`), id).
		Scan(&o.ID, &o.Kind, &o.Queue, &o.Priority, &args, &policy, &timeout, pq.Array(&o.Tags), &o.State, &o.Attempt)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Original{}, fmt.Errorf("read job %d: %w", id, err)
	}
	o.Args, o.Policy, o.Timeout = args, policy, time.Duration(timeout)*time.Millisecond
	return o, nil
}

// The first row of a copy's history says whose copy it is and who made it.
var copyStatement = transition(enqueueInput("", "")+moved("input", map[string]string{
	"state": "case when s.run_at > s.at then 1::smallint else 2::smallint end", "at": "s.at", "run_at": "s.run_at", "cause": "1::smallint",
	"attempt": "0", "retry": "0", "snoozes": "0", "losses": "0::smallint",
	"reason": "'Copied from job ' || $16::bigint", "actor": "$17::text",
	"data": "jsonb_strip_nulls(jsonb_build_object('copied_from', $16::bigint::text, 'run_at', case when s.run_at > s.at then s.run_at end))",
}), toReady|toScheduled, `select
  (select array_agg(job_id order by ord) from input),
  (select array_agg((case when run_at > at then 1 else 2 end)::smallint order by ord) from input),
  (select count(pg_notify($10, 'q' || q)) from unnest($11::text[]) q)`)

// EnqueueCopy enqueues one job as a copy of another, in the caller's transaction, and
// writes both into the audit. wake as for EnqueueIn.
func (db *DB) EnqueueCopy(ctx context.Context, q Querier, actor string, of int64, job NewJob, wake []string) (Created, error) {
	args := append(db.enqueueArgs([]NewJob{job}, wake), of, actor)
	created, err := scanCreated(q.QueryRowContext(ctx, db.sql(copyStatement), args...).Scan, 1)
	if err != nil {
		return Created{}, err
	}
	_, err = q.ExecContext(ctx, db.sql(`insert into tekrar.audit (actor, action, job_id, detail)
values ($1, 'enqueue copy', $2, jsonb_build_object('kind', $3::text, 'queue', $4::text, 'copied_from', $5::bigint::text))`),
		actor, created[0].ID, job.Kind, job.Queue, of)
	if err != nil {
		return Created{}, fmt.Errorf("audit copy: %w", err)
	}
	return created[0], nil
}
