package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// NewServer describes a process that runs jobs.
type NewServer struct {
	Name, Host, Version string
	PID, Slots          int
	Listening           bool // woken by notifications; else it polls
	Queues, Kinds       []string
	Recurring           []string // ids of the recurring jobs that it declares
	Lease               time.Duration
}

// Register writes the server's row with its first lease and returns its id.
func (db *DB) Register(ctx context.Context, n NewServer) (id int64, err error) {
	err = db.beat(ctx, `insert into tekrar.servers (name, host, pid, version, slots, listening, queues, kinds, lease_until, recurring)
values ($1, $2, $3, $4, $5, $6, coalesce($7::text[], '{}'), coalesce($8::text[], '{}'), clock_timestamp() + $9 * interval '1 microsecond',
  coalesce($10::text[], '{}')) returning id`,
		func(r *sql.Rows) error { return r.Scan(&id) },
		n.Name, n.Host, n.PID, n.Version, n.Slots, n.Listening, pq.Array(n.Queues), pq.Array(n.Kinds), n.Lease.Microseconds(), pq.Array(n.Recurring))
	if err != nil {
		return 0, fmt.Errorf("register server: %w", err)
	}
	return id, nil
}

// Renew extends the lease from now. ErrLeaseLost: another server took the row;
// a lease that merely ran out is renewed.
func (db *DB) Renew(ctx context.Context, server int64, lease time.Duration, listening, draining bool) error {
	held := false
	err := db.beat(ctx, `update tekrar.servers set seen_at = clock_timestamp(), listening = $3,
  lease_until = clock_timestamp() + $2 * interval '1 microsecond',
  draining_at = case when $4 then coalesce(draining_at, clock_timestamp()) end
where id = $1 and lost_at is null and stopped_at is null returning id`,
		func(*sql.Rows) error { held = true; return nil }, server, lease.Microseconds(), listening, draining)
	if err != nil {
		return fmt.Errorf("renew lease: %w", err)
	}
	if !held {
		return fmt.Errorf("renew lease of server %d: %w", server, ErrLeaseLost)
	}
	return nil
}

// Stop marks the server stopped: whatever it still holds is reclaimed by the
// next sweep of any other, so it is called only when nothing of it runs.
func (db *DB) Stop(ctx context.Context, server int64) error {
	err := db.beat(ctx, `update tekrar.servers set stopped_at = clock_timestamp(), seen_at = clock_timestamp()
where id = $1 and lost_at is null and stopped_at is null returning id`,
		func(*sql.Rows) error { return nil }, server)
	if err != nil {
		return fmt.Errorf("mark server stopped: %w", err)
	}
	return nil
}

// Taken returns which of the tokens no longer hold their job, deleted by a person or
// reclaimed, and of which a cancel was requested. Their contexts are to be cancelled.
func (db *DB) Taken(ctx context.Context, server int64, tokens []Token) (taken []Token, asked map[Token]CancelRequest, err error) {
	ids, attempts := make([]int64, len(tokens)), make([]int64, len(tokens))
	for i, t := range tokens {
		ids[i], attempts[i] = t.ID, int64(t.Attempt)
	}
	asked = map[Token]CancelRequest{}
	err = db.beat(ctx, `select t.job_id, t.attempt, r.cancel_requested_at, coalesce(r.cancel_requested_by, ''), r.cancel_acknowledged_at
from unnest($2::bigint[], $3::integer[]) as t(job_id, attempt) left join lateral (
  select job_id, cancel_requested_at, cancel_requested_by, cancel_acknowledged_at from tekrar.running
  where job_id = t.job_id and attempt = t.attempt and server = $1 offset 0) r on true
where r.job_id is null or r.cancel_requested_at is not null`,
		func(r *sql.Rows) error {
			var t Token
			var at, acknowledged *time.Time
			var by string
			err := r.Scan(&t.ID, &t.Attempt, &at, &by, &acknowledged)
			if at != nil {
				asked[t] = CancelRequest{At: *at, By: by, AcknowledgedAt: acknowledged}
			} else {
				taken = append(taken, t)
			}
			return err
		}, server, pq.Array(ids), pq.Array(attempts))
	if err != nil {
		return nil, nil, fmt.Errorf("look for taken and cancelled jobs: %w", err)
	}
	return taken, asked, nil
}

// MarkStuck notes that these attempts run on past their timeout.
func (db *DB) MarkStuck(ctx context.Context, server int64, tokens []Token) error {
	ids, attempts := make([]int64, len(tokens)), make([]int64, len(tokens))
	for i, t := range tokens {
		ids[i], attempts[i] = t.ID, int64(t.Attempt)
	}
	err := db.beat(ctx, `update tekrar.running r set stuck_at = clock_timestamp()
from unnest($2::bigint[], $3::integer[]) as t(job_id, attempt)
where r.job_id = t.job_id and r.attempt = t.attempt and r.server = $1 and r.stuck_at is null returning r.job_id`,
		func(*sql.Rows) error { return nil }, server, pq.Array(ids), pq.Array(attempts))
	if err != nil {
		return fmt.Errorf("mark stuck attempts: %w", err)
	}
	return nil
}

// NewKind is what a server publishes about a kind it handles.
type NewKind struct {
	Kind, Queue string
	MaxRetries  int
	Timeout     time.Duration // 0: none
	Policy      string        // JSON
	// How long its succeeded and deleted jobs are kept; 0: as the server that
	// tidies says, negative: for ever.
	KeepSucceeded, KeepDeleted time.Duration
}

// PublishKinds writes what this server knows about its kinds; the last to start wins.
func (db *DB) PublishKinds(ctx context.Context, kinds []NewKind) error {
	for _, k := range kinds {
		err := db.beat(ctx, `insert into tekrar.kinds (kind, queue, max_retries, timeout_ms, policy, keep_succeeded_ms, keep_deleted_ms)
values ($1, $2, $3, nullif($4::bigint, 0), $5::text::jsonb, nullif($6::bigint, 0), nullif($7::bigint, 0))
on conflict (kind) do update set queue = excluded.queue, max_retries = excluded.max_retries,
  timeout_ms = excluded.timeout_ms, policy = excluded.policy, keep_succeeded_ms = excluded.keep_succeeded_ms,
  keep_deleted_ms = excluded.keep_deleted_ms, seen_at = clock_timestamp() returning kind`,
			func(*sql.Rows) error { return nil }, k.Kind, k.Queue, k.MaxRetries, k.Timeout.Milliseconds(), k.Policy,
			keepMS(k.KeepSucceeded), keepMS(k.KeepDeleted))
		if err != nil {
			return fmt.Errorf("publish kind %q: %w", k.Kind, err)
		}
	}
	return nil
}

// beat runs a statement on the heartbeat's own connection.
func (db *DB) beat(ctx context.Context, text string, scan func(*sql.Rows) error, args ...any) error {
	return db.beaters().with(ctx, func(s *session) error { return s.query(ctx, db.sql(text), scan, args...) })
}
