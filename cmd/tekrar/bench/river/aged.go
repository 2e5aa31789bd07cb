package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// held drains while a transaction holds its snapshot open.
func (b *bench) held(ctx context.Context) error {
	free, err := b.drainOnce(ctx, b.workers)
	if err != nil {
		return err
	}
	release, err := b.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	rate, err := b.drainOnce(ctx, b.workers)
	if err != nil {
		return err
	}
	figure("held", "rate", "jobs/s", rate)
	figure("held", "of_the_rate_without", "ratio", rate/free)
	return nil
}

// hold opens a transaction whose snapshot stays open until release.
func (b *bench) hold(ctx context.Context) (release func(), err error) {
	tx, err := b.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `select count(*) from (select 1 from river_job limit 1) j`); err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	return func() { _ = tx.Rollback(ctx) }, nil
}

// old drains in a table that holds many completed jobs.
func (b *bench) old(ctx context.Context) error {
	empty, err := b.drainOnce(ctx, b.workers)
	if err != nil {
		return err
	}
	if err := b.age(ctx); err != nil {
		return err
	}
	rate, err := b.drainOnce(ctx, b.workers)
	if err != nil {
		return err
	}
	figure("aged", "rate", "jobs/s", rate)
	figure("aged", "of_the_rate_when_empty", "ratio", rate/empty)
	return nil
}

// age fills the table with completed jobs of the last month.
func (b *bench) age(ctx context.Context) error {
	_, err := b.pool.Exec(ctx, `insert into river_job (state, kind, args, max_attempts, attempt, attempted_at, created_at, scheduled_at, finalized_at, attempted_by)
select 'completed', 'aged-' || g % 10, '{"n": 1}', 25, 1, t, t, t, t, array['bench']
from generate_series(1, $1::integer) g cross join lateral (select now() - interval '30 days' * (1 - g::float8 / $1) as t) x`, b.aged)
	return err
}
