package store

import (
	"context"
	"fmt"
)

// AuditEnqueue writes into the audit, in the transaction that enqueues the job, who
// asked for it.
func (db *DB) AuditEnqueue(ctx context.Context, q Querier, actor string, job int64, kind, queue string) error {
	_, err := q.ExecContext(ctx, db.sql(`insert into tekrar.audit (actor, action, job_id, detail)
values ($1, 'enqueue', $2, jsonb_build_object('kind', $3::text, 'queue', $4::text))`), actor, job, kind, queue)
	if err != nil {
		return fmt.Errorf("audit enqueue: %w", err)
	}
	return nil
}
