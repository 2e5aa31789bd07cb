package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// lastFires is how many fires a page shows of each recurring job.
const lastFires = 20

const newestFires = `select f.* from unnest($1::text[]) u(id) cross join lateral (
  select recurring_id, fire_at, job_id, outcome, coalesce(state, 0) as state, note from tekrar.recurring_fires
  where recurring_id = u.id order by fire_at desc limit $2) f
order by f.recurring_id, f.fire_at desc`

// RecurringAll reads every recurring job with its last fires, by id; removed
// ones come last.
func (db *DB) RecurringAll(ctx context.Context) ([]RecurringRow, error) {
	rows, err := db.recurringRows(ctx, `select `+recurringColumns+` from tekrar.recurring r order by r.removed_at is not null, r.id`)
	if err != nil {
		return nil, fmt.Errorf("list recurring jobs: %w", err)
	}
	return rows, nil
}

// RecurringOne reads one recurring job with its last fires. ErrNotFound when
// there is none of that id.
func (db *DB) RecurringOne(ctx context.Context, id string) (RecurringRow, error) {
	rows, err := db.recurringRows(ctx, `select `+recurringColumns+` from tekrar.recurring r where r.id = $1`, id)
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return RecurringRow{}, fmt.Errorf("read recurring job %q: %w", id, err)
	}
	return rows[0], nil
}

func (db *DB) recurringRows(ctx context.Context, text string, args ...any) (rows []RecurringRow, err error) {
	err = db.snapshot(ctx, func(tx *sqlx.Tx) error {
		if err := tx.SelectContext(ctx, &rows, db.sql(text), args...); err != nil {
			return err
		}
		return db.addFires(ctx, tx, rows)
	})
	return rows, err
}

// addFires fills in the last fires and where their jobs stand.
func (db *DB) addFires(ctx context.Context, tx *sqlx.Tx, rows []RecurringRow) error {
	at := make(map[string]int, len(rows))
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i], at[rows[i].ID] = rows[i].ID, i
		rows[i].normal()
	}
	var fires []struct {
		RecurringID string      `db:"recurring_id"`
		FireAt      time.Time   `db:"fire_at"`
		JobID       *int64      `db:"job_id"`
		Outcome     FireOutcome `db:"outcome"`
		State       State       `db:"state"`
		Note        string      `db:"note"`
	}
	if err := tx.SelectContext(ctx, &fires, db.sql(newestFires), pq.Array(ids), lastFires); err != nil {
		return err
	}
	var jobIDs []int64
	for _, f := range fires {
		if f.JobID != nil {
			jobIDs = append(jobIDs, *f.JobID)
		}
	}
	var stand []JobRow
	if err := tx.SelectContext(ctx, &stand, db.sql(jobRowsByID), pq.Array(jobIDs)); err != nil {
		return err
	}
	jobs := make(map[int64]*JobRow, len(stand))
	for i := range stand {
		jobs[stand[i].ID] = &stand[i]
	}
	for _, f := range fires {
		row := FireRow{FireAt: f.FireAt, JobID: f.JobID, Outcome: f.Outcome.String(), Note: f.Note, State: f.State}
		if f.JobID != nil {
			if j := jobs[*f.JobID]; j != nil {
				row.State, row.Attempt, row.Retry, row.MaxRetries = j.State, j.Attempt, j.Retry, j.MaxRetries
			}
		}
		r := &rows[at[f.RecurringID]]
		r.Last = append(r.Last, row)
	}
	return nil
}
