package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// ProviderCallRow is a recorded call.
type ProviderCallRow struct {
	ID        int64      `db:"id"`
	At        time.Time  `db:"at"`
	EndedAt   *time.Time `db:"ended_at"` // nil: it runs, or its process died
	JobID     int64      `db:"job_id"`   // 0: made outside a job
	Attempt   int        `db:"attempt"`
	Status    int        `db:"status"`
	Replayed  bool       `db:"replayed"`
	Provider  string     `db:"provider"`
	Key       string     `db:"key"`
	SentKey   string     `db:"sent_key"`
	Payload   string     `db:"payload"`
	Outcome   string     `db:"outcome"`
	Reference string     `db:"reference"`
	Error     string     `db:"error"`
	DurationU int64      `db:"duration_us"`
}

// Duration of the call; 0 while it runs.
func (r ProviderCallRow) Duration() time.Duration {
	return time.Duration(r.DurationU) * time.Microsecond
}

// ProviderCallFilter narrows a list; zero fields do not.
type ProviderCallFilter struct {
	JobID    int64
	Key      string
	BeforeID int64 // goes on behind this row
	Limit    int   // default 50
}

const (
	callColumns = `select id, at, ended_at, coalesce(job_id, 0) as job_id, coalesce(attempt, 0) as attempt, coalesce(status, 0) as status,
       replayed, provider, key, sent_key, payload, coalesce(outcome, '') as outcome, coalesce(reference, '') as reference,
       coalesce(error, '') as error, coalesce(duration_us, 0) as duration_us
from `
	callList = callColumns + `tekrar.provider_calls where id < $1`
	keyCalls = callColumns + `(select c.* from unnest($3::text[]) k(key) cross join lateral (
  select * from tekrar.provider_calls where key = k.key and id < $1 order by id desc limit $2) c) p order by id desc limit $2`
	callsByID = callColumns + `(select c.* from unnest($1::bigint[]) i(id) cross join lateral (
  select * from tekrar.provider_calls where id = i.id offset 0) c) p order by id desc`
)

// ProviderCalls lists recorded calls, newest first.
func (db *DB) ProviderCalls(ctx context.Context, f ProviderCallFilter) ([]ProviderCallRow, error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	if f.BeforeID <= 0 {
		f.BeforeID = 1<<63 - 1
	}
	text, args := callList, []any{f.BeforeID, f.Limit}
	switch {
	case f.JobID != 0 && f.Key != "":
		text, args = text+" and job_id = $3 and key = $4", append(args, f.JobID, f.Key)
	case f.JobID != 0:
		text, args = text+" and job_id = $3", append(args, f.JobID)
	case f.Key != "":
		text, args = text+" and key = $3", append(args, f.Key)
	}
	return db.calls(ctx, text+" order by id desc limit $2", args...)
}

// CallsOfKeys lists the calls of any of these keys, newest first, at most limit.
func (db *DB) CallsOfKeys(ctx context.Context, keys []string, limit int) ([]ProviderCallRow, error) {
	return db.calls(ctx, keyCalls, int64(1<<63-1), limit, pq.Array(keys))
}

// CallsByID reads these calls, newest first; those that are gone are left out.
func (db *DB) CallsByID(ctx context.Context, ids []int64) ([]ProviderCallRow, error) {
	return db.calls(ctx, callsByID, pq.Array(ids))
}

func (db *DB) calls(ctx context.Context, text string, args ...any) (rows []ProviderCallRow, err error) {
	if err := db.SelectContext(ctx, &rows, db.sql(text), args...); err != nil {
		return nil, fmt.Errorf("list provider calls: %w", err)
	}
	return rows, nil
}
