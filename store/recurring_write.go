package store

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

const (
	insertFires = `insert into tekrar.recurring_fires (recurring_id, fire_at, job_id, outcome, note)
select i.id, 'epoch'::timestamptz + i.at_us * interval '1 microsecond', nullif(i.job_id, 0), i.outcome, i.note
from unnest($1::text[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[]) as i(id, at_us, job_id, outcome, note)
on conflict (recurring_id, fire_at) do update set job_id = excluded.job_id, outcome = excluded.outcome, note = excluded.note
where recurring_fires.outcome = 3`

	updateFired = `update tekrar.recurring r set
  next_run = 'epoch'::timestamptz + nullif(i.next_us, 0) * interval '1 microsecond',
  last_fire = 'epoch'::timestamptz + nullif(i.last_us, 0) * interval '1 microsecond',
  waiting_fire = 'epoch'::timestamptz + nullif(i.waiting_us, 0) * interval '1 microsecond',
  look_again = 'epoch'::timestamptz + nullif(i.again_us, 0) * interval '1 microsecond',
  failures = i.failures, error = i.error
from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[])
  as i(id, next_us, last_us, waiting_us, again_us, failures, error)
where r.id = i.id`

	// fireStatement bounds the jobs of one enqueue statement.
	fireStatement = 2000
)

// writeFirings makes the jobs, a row for each fire, and moves the recurring jobs on.
func (db *DB) writeFirings(ctx context.Context, tx *sqlx.Tx, firings []Firing, f *Fired) error {
	var (
		jobs                            []NewJob
		ids, notes                      []string
		at, jobIDs, outcomes            []int64
		rows, errors                    []string
		next, last, waiting, again, bad []int64
	)
	seen := map[string]bool{}
	for _, one := range firings {
		for _, fire := range one.Fires {
			ids, at = append(ids, one.ID), append(at, fire.At.UnixMicro())
			outcomes, notes, jobIDs = append(outcomes, int64(fire.Outcome)), append(notes, fire.Note), append(jobIDs, 0)
			if fire.Outcome == FireEnqueued {
				job := fire.Job
				job.RecurringID, job.FireAt = one.ID, fire.At
				jobs = append(jobs, job)
				if !seen[job.Queue] {
					seen[job.Queue] = true
					f.Queues = append(f.Queues, job.Queue)
				}
			}
		}
		rows, errors, bad = append(rows, one.ID), append(errors, one.Error), append(bad, int64(one.Failures))
		next, last = append(next, micros(one.NextRun)), append(last, micros(one.LastFire))
		waiting, again = append(waiting, micros(one.Waiting)), append(again, micros(one.LookAgain))
	}
	for start := 0; start < len(jobs); start += fireStatement {
		part := jobs[start:min(start+fireStatement, len(jobs))]
		created, err := db.EnqueueIn(ctx, tx, part, f.Queues)
		if err != nil {
			return err
		}
		for _, c := range created {
			f.IDs = append(f.IDs, c.ID)
		}
	}
	made := 0
	for i := range outcomes {
		if FireOutcome(outcomes[i]) == FireEnqueued {
			jobIDs[i] = f.IDs[made]
			made++
		}
	}
	if len(ids) > 0 {
		wrote, err := tx.ExecContext(ctx, db.sql(insertFires), pq.Array(ids), pq.Array(at), pq.Array(jobIDs), pq.Array(outcomes), pq.Array(notes))
		if err != nil {
			return err
		}
		if n, err := wrote.RowsAffected(); err != nil || n != int64(len(ids)) {
			return ErrFireTaken
		}
	}
	_, err := tx.ExecContext(ctx, db.sql(updateFired), pq.Array(rows), pq.Array(next), pq.Array(last), pq.Array(waiting), pq.Array(again), pq.Array(bad), pq.Array(errors))
	return err
}

// micros is a time for a statement that reads 0 as null.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
