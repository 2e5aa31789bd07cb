package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Record is all that a database says about its jobs, for a checker that holds it
// against what it saw from outside.
type Record struct {
	Jobs    []RecordJob
	Steps   []RecordStep // history, by job and then in order
	Servers map[int64]RecordServer
}

// RecordJob is a job as it was enqueued.
type RecordJob struct {
	ID   int64  `db:"id"`
	Kind string `db:"kind"`
	Args string `db:"args"` // JSON
}

// RecordStep is one history row.
type RecordStep struct {
	ID      int64         `db:"id"`
	JobID   int64         `db:"job_id"`
	At      time.Time     `db:"at"`
	State   State         `db:"state"`
	Attempt int           `db:"attempt"`
	Server  sql.NullInt64 `db:"server"`
	Settled bool          `db:"settled"` // written by a settle, and so by the attempt itself
	Reason  string        `db:"reason"`
}

// RecordServer is one server row.
type RecordServer struct {
	ID         int64      `db:"id"`
	Name       string     `db:"name"`
	PID        int        `db:"pid"`
	StartedAt  time.Time  `db:"started_at"`
	LeaseUntil time.Time  `db:"lease_until"`
	StoppedAt  *time.Time `db:"stopped_at"`
	LostAt     *time.Time `db:"lost_at"`
}

// Record reads every job, all history and every server at one moment, into
// memory: it is for the databases of tests.
func (db *DB) Record(ctx context.Context) (Record, error) {
	r := Record{Servers: map[int64]RecordServer{}}
	err := db.snapshot(ctx, func(tx *sqlx.Tx) error {
		if err := wholeTables(ctx, tx); err != nil {
			return err
		}
		if err := tx.SelectContext(ctx, &r.Jobs, db.sql(`select id, kind, args::text as args from tekrar.jobs order by id`)); err != nil {
			return err
		}
		if err := tx.SelectContext(ctx, &r.Steps, db.sql(`select id, job_id, at, state, attempt, server,
  worker is not null and state <> 3 as settled, coalesce(reason, '') as reason
from tekrar.history order by job_id, id`)); err != nil {
			return err
		}
		var servers []RecordServer
		err := tx.SelectContext(ctx, &servers, db.sql(`select id, name, pid, started_at, lease_until, stopped_at, lost_at from tekrar.servers`))
		for _, s := range servers {
			r.Servers[s.ID] = s
		}
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("read the whole record: %w", err)
	}
	return r, nil
}

// wholeTables lifts, for one transaction, the settings that keep short reads on
// their indexes and would make one of whole tables crawl.
func wholeTables(ctx context.Context, tx *sqlx.Tx) error {
	_, err := tx.ExecContext(ctx, `set local statement_timeout = 0; set local enable_seqscan = on;
		set local enable_hashjoin = on; set local enable_mergejoin = on; set local enable_bitmapscan = on;
		set local plan_cache_mode = auto`)
	return err
}
