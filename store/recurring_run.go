package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// RunRecurring enqueues one job of a recurring job by hand: next_run stays, and
// the run is kept among the fires with its own time. q is the caller's transaction;
// nil is one of its own. ErrNotFound when there is no such recurring job,
// ErrStateChanged when it has been removed.
func (db *DB) RunRecurring(ctx context.Context, q Querier, actor, id string, job func(RecurringRow) (NewJob, error)) (c Created, err error) {
	if q != nil {
		c, err = db.runRecurring(ctx, q, actor, id, job)
	} else {
		err = db.txRetry(ctx, func(tx *sqlx.Tx) (err error) {
			c, err = db.runRecurring(ctx, tx, actor, id, job)
			return err
		})
	}
	if err != nil {
		return Created{}, fmt.Errorf("run recurring job %q now: %w", id, err)
	}
	return c, nil
}

func (db *DB) runRecurring(ctx context.Context, q Querier, actor, id string, job func(RecurringRow) (NewJob, error)) (c Created, err error) {
	r, now, err := db.lockedRecurring(ctx, q, id)
	switch {
	case err != nil:
		return c, err
	case r == nil:
		return c, ErrNotFound
	case r.RemovedAt != nil:
		return c, ErrStateChanged
	}
	j, err := job(*r)
	if err != nil {
		return c, err
	}
	j.RecurringID, j.FireAt = id, now
	created, err := db.EnqueueIn(ctx, q, []NewJob{j}, []string{j.Queue})
	if err != nil {
		return c, err
	}
	if _, err := q.ExecContext(ctx, db.sql(`insert into tekrar.recurring_fires (recurring_id, fire_at, job_id, outcome, note)
values ($1, $2, $3, 1, $4)`), id, now, created[0].ID, "run now by "+actor); err != nil {
		return c, err
	}
	_, err = q.ExecContext(ctx, db.sql(auditRecurring), actor, "run recurring now", id, r.Kind, r.Spec, r.Zone)
	return created[0], err
}
