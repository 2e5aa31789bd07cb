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

	ageScheduled = `with j as (
insert into tekrar.jobs (created_at, queue, kind, args)
select clock_timestamp(), 'default', 'aged-' || g % 10, '{"n": 1}' from generate_series(1, $1::integer) g returning id, created_at, queue, kind
), h as (
insert into tekrar.history (job_id, at, attempt, state, queue, kind) select id, created_at, 0, 1, queue, kind from j
) insert into tekrar.scheduled (job_id, run_at, cause, queue, kind)
select id, created_at + interval '1 day' * (1 + random()), 1, queue, kind from j`

	ageFailed = `with j as (
insert into tekrar.jobs (created_at, queue, kind, args)
select clock_timestamp() - interval '1 day' * random(), 'default', 'aged-' || g % 10, '{"n": 1}' from generate_series(1, $1::integer) g returning id, created_at, queue, kind
), h as (
insert into tekrar.history (job_id, at, attempt, state, queue, kind, reason)
select id, created_at + s * interval '1 ms', case when s = 2 then 0 else 1 end, s, queue, kind, case when s = 5 then 'An error occurred during attempt 1' end
from j cross join (values (2), (3), (5)) v(s) order by id, s
) insert into tekrar.failed (job_id, failed_at, fingerprint, attempt, queue, kind, error_type, error_line)
select id, created_at, id % 100, 1, queue, kind, 'aged', 'error ' || id % 100 from j`
)

// Old is what Age fills the tables with.
type Old struct{ Finished, Scheduled, Failed int }

// Age fills the tables as a system that has run for long has them: with jobs of ten
// kinds that succeeded at their first attempt within the last thirty days, jobs
// scheduled for the day after tomorrow, and failed ones of a hundred groups. It is for
// measurements, in a database of their own.
func (db *DB) Age(ctx context.Context, o Old) error {
	for done := 0; done < o.Finished; done += ageChunk {
		if err := db.ageTx(ctx, func(tx *sqlx.Tx) error { return db.age(ctx, tx, o.Finished, done) }); err != nil {
			return err
		}
	}
	err := db.ageTx(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, db.sql(ageScheduled), o.Scheduled); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, db.sql(ageFailed), o.Failed)
		return err
	})
	if err != nil {
		return err
	}
	return db.FoldCounts(ctx)
}

func (db *DB) ageTx(ctx context.Context, write func(*sqlx.Tx) error) error {
	err := db.Tx(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `set local statement_timeout = 0`); err != nil {
			return err
		}
		return write(tx)
	})
	if err != nil {
		return fmt.Errorf("age the tables: %w", err)
	}
	return nil
}

func (db *DB) age(ctx context.Context, tx *sqlx.Tx, n, done int) error {
	if _, err := tx.ExecContext(ctx, db.sql(ageJobs), n, done, min(ageChunk, n-done)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, db.sql(ageHistory)); err != nil || done > 0 {
		return err
	}
	_, err := tx.ExecContext(ctx, db.sql(ageStats), n)
	return err
}
