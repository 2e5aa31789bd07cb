package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// PauseQueue stops claims from the queue everywhere; running jobs go on. A
// paused queue that is paused again keeps its first time and person.
func (db *DB) PauseQueue(ctx context.Context, actor, queue string) error {
	return db.setPause(ctx, "pause queue", actor, queue, `insert into tekrar.queues (name, paused_at, paused_by)
values ($1, clock_timestamp(), $2) on conflict (name) do update
set paused_at = coalesce(queues.paused_at, excluded.paused_at), paused_by = coalesce(queues.paused_by, excluded.paused_by)`)
}

// ResumeQueue lets claims go on, and wakes the engines.
func (db *DB) ResumeQueue(ctx context.Context, actor, queue string) error {
	return db.setPause(ctx, "resume queue", actor, queue, `update tekrar.queues set paused_at = null, paused_by = null
where name = $1 and $2::text is not null`)
}

func (db *DB) setPause(ctx context.Context, action, actor, queue, text string) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, db.sql(text), queue, actor); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, db.sql(`insert into tekrar.audit (actor, action, detail) values ($1, $2, jsonb_build_object('queue', $3::text))`), actor, action, queue); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, notifyStatement, db.jobsChannel(), pq.Array([]string{"q" + queue}))
		return err
	})
	if err != nil {
		return fmt.Errorf("%s %q: %w", action, queue, err)
	}
	return nil
}
