package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// ageChunk is how many jobs Age writes in one transaction.
const ageChunk = 250_000

const (
	ageJobs = `insert into tekrar.jobs (created_at, queue, kind, args)
select clock_timestamp() - interval '30 days' * (1 - g::float8 / $1), 'default', 'aged-' || g % 10, '{"n": 1}'
from generate_series($2::integer + 1, $2::integer + $3::integer) g`

	ageHistory = `insert into tekrar.history (job_id, at, attempt, state, queue, kind, latency_us, duration_us)
select j.id, j.created_at + s.state * interval '1 ms', case when s.state = 2 then 0 else 1 end, s.state, j.queue, j.kind,
  case when s.state > 2 then 1000 end, case when s.state = 4 then 1000 end
from tekrar.jobs j cross join (values (2), (3), (4)) s(state)
where j.id > coalesce((select job_id from tekrar.history order by job_id desc limit 1), 0) order by j.id, s.state`

	ageStats = `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
select date_trunc('hour', clock_timestamp()) - h * interval '1 hour', 0, $1 / 7200, $1 / 7, $1 / 7, 1, 1, 3, 'default', 'aged-' || k
from generate_series(1, 720) h, generate_series(0, 9) k`
)

// Age fills the tables with n jobs of ten kinds that succeeded at their first
// attempt within the last thirty days, as a system that has run for long has them.
// It is for measurements, in a database of their own.
func (db *DB) Age(ctx context.Context, n int) error {
	for done := 0; done < n; done += ageChunk {
		if err := db.Tx(ctx, func(tx *sqlx.Tx) error { return db.age(ctx, tx, n, done) }); err != nil {
			return fmt.Errorf("age the tables: %w", err)
		}
	}
	return nil
}

func (db *DB) age(ctx context.Context, tx *sqlx.Tx, n, done int) error {
	if _, err := tx.ExecContext(ctx, `set local statement_timeout = 0`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, db.sql(ageJobs), n, done, min(ageChunk, n-done)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, db.sql(ageHistory)); err != nil || done > 0 {
		return err
	}
	_, err := tx.ExecContext(ctx, db.sql(ageStats), n)
	return err
}
