package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// JobResult is the result of a job that succeeded.
type JobResult struct {
	JobID  int64
	At     time.Time
	Result json.RawMessage // null when it set none
}

const newestResults = `select job_id, at, coalesce(data -> 'result', 'null')::text from tekrar.history
where state in (4, 6) and state = 4 and kind = $1 order by id desc limit $2`

// NewestResults reads the newest successes of a kind, at most limit.
func (db *DB) NewestResults(ctx context.Context, kind string, limit int) (all []JobResult, err error) {
	rows, err := db.QueryContext(ctx, db.sql(newestResults), kind, limit)
	if err != nil {
		return nil, fmt.Errorf("read results of %s: %w", kind, err)
	}
	defer rows.Close()
	for rows.Next() {
		var r JobResult
		var text string
		if err := rows.Scan(&r.JobID, &r.At, &text); err != nil {
			return nil, fmt.Errorf("read results of %s: %w", kind, err)
		}
		r.Result = json.RawMessage(text)
		all = append(all, r)
	}
	return all, rows.Err()
}

// AuditPurge writes into the audit, in the transaction that enqueues the job, that
// a person asked for a purge; job 0 is one that runs in the person's own program.
func (db *DB) AuditPurge(ctx context.Context, tx *sqlx.Tx, actor string, job int64, dryRun bool) error {
	_, err := tx.ExecContext(ctx, db.sql(`insert into tekrar.audit (actor, action, job_id, detail)
values ($1, 'purge effect claims', nullif($2::bigint, 0), jsonb_build_object('dry_run', $3::boolean))`), actor, job, dryRun)
	if err != nil {
		return fmt.Errorf("audit purge: %w", err)
	}
	return nil
}
