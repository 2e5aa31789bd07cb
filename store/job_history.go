package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"
)

// HistoryRow is one change of a job's state, or the refused result of an attempt
// that had lost its job (State Late).
type HistoryRow struct {
	ID      int64
	At      time.Time // of the database's clock
	State   State
	Attempt int
	Reason  string
	Actor   string // who asked for it; empty when the engine did it by itself
	Server  string // name of the server, or "server <id>" when its row is gone
	Worker  *int
	Latency *time.Duration // of processing: from ready_at to the start of this attempt
	// Duration of the attempt that this row ends.
	Duration *time.Duration
	// Data is a JSON object or nil. Keys, each only where it applies: error,
	// error_type, stack, rule (which rule decided), run_at (RFC 3339), result,
	// would_be (late rows: the state refused), fresh_budget.
	Data json.RawMessage
}

const jobHistory = `
select h.id, h.at, h.state, h.attempt, coalesce(h.reason, '') as reason, coalesce(h.actor, '') as actor,
       coalesce(s.name, 'server ' || h.server, '') as server, h.worker, h.latency_us, h.duration_us, h.data
from (select id, at, state, attempt, reason, actor, server, worker, latency_us, duration_us, data
      from tekrar.history where job_id = $1 and id < $2 order by id desc limit $3) h
left join lateral (select name from tekrar.servers where id = h.server offset 0) s on true
order by h.id desc`

func (db *DB) history(ctx context.Context, q sqlx.QueryerContext, job int64, limit int, before int64) ([]HistoryRow, error) {
	rows, err := q.QueryxContext(ctx, db.sql(jobHistory), job, before, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var history []HistoryRow
	for rows.Next() {
		var h HistoryRow
		var latency, duration *int64
		var data []byte
		if err := rows.Scan(&h.ID, &h.At, &h.State, &h.Attempt, &h.Reason, &h.Actor,
			&h.Server, &h.Worker, &latency, &duration, &data); err != nil {
			return nil, err
		}
		h.Latency, h.Duration, h.Data = microseconds(latency), microseconds(duration), data
		history = append(history, h)
	}
	return history, rows.Err()
}

func microseconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Microsecond
	return &d
}
