package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// LogLine is one line that a handler wrote about its job.
type LogLine struct {
	JobID   int64     `db:"job_id"`
	Attempt int       `db:"attempt"`
	At      time.Time `db:"at"`
	Line    string    `db:"line"`
}

// Progress is how far an attempt says it is.
type Progress struct {
	JobID   int64     `db:"job_id"`
	Attempt int       `db:"attempt"`
	At      time.Time `db:"at"`
	Done    int64     `db:"done"`
	Total   int64     `db:"total"` // 0: unknown
	Message string    `db:"message"`
}

// Report writes what handlers said since the last time. Lines keep the time at
// which they were written, by the process's clock; progress of an older attempt
// never replaces that of a newer one.
func (db *DB) Report(ctx context.Context, lines []LogLine, progress []Progress) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		if len(lines) > 0 {
			var ids, attempts, at []int64
			var text []string
			for _, l := range lines {
				ids, attempts, at, text = append(ids, l.JobID), append(attempts, int64(l.Attempt)), append(at, l.At.UnixMicro()), append(text, l.Line)
			}
			if _, err := tx.ExecContext(ctx, db.sql(`insert into tekrar.job_log (job_id, attempt, at, line)
select i.job_id, i.attempt, 'epoch'::timestamptz + i.at_us * interval '1 microsecond', i.line
from unnest($1::bigint[], $2::integer[], $3::bigint[], $4::text[]) with ordinality as i(job_id, attempt, at_us, line, ord)
where exists (select 1 from tekrar.jobs j where j.id = i.job_id) order by i.ord`), pq.Array(ids), pq.Array(attempts), pq.Array(at), pq.Array(text)); err != nil {
				return fmt.Errorf("write job log: %w", err)
			}
		}
		for _, p := range progress {
			if _, err := tx.ExecContext(ctx, db.sql(`insert into tekrar.job_progress (job_id, attempt, done, total, message)
select $1, $2, $3, $4, $5 where exists (select 1 from tekrar.jobs where id = $1::bigint)
on conflict (job_id) do update set at = clock_timestamp(), attempt = excluded.attempt, done = excluded.done,
  total = excluded.total, message = excluded.message where job_progress.attempt <= excluded.attempt`),
				p.JobID, p.Attempt, p.Done, p.Total, p.Message); err != nil {
				return fmt.Errorf("write job progress: %w", err)
			}
		}
		return nil
	})
	return err
}

// JobLog returns the newest lines of a job, oldest of them first, and how many
// there are in all.
func (db *DB) JobLog(ctx context.Context, id int64, limit int) (lines []LogLine, total int, err error) {
	var rows []struct {
		LogLine
		Total int `db:"total"`
	}
	err = db.SelectContext(ctx, &rows, db.sql(`select job_id, attempt, at, line,
  (select count(*) from tekrar.job_log where job_id = $1) as total
from (select * from tekrar.job_log where job_id = $1 order by job_id desc, id desc limit $2) l order by id`), id, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read job log: %w", err)
	}
	for _, r := range rows {
		lines, total = append(lines, r.LogLine), r.Total
	}
	return lines, total, nil
}

// JobProgress returns the newest progress of a job; false: it reported none.
func (db *DB) JobProgress(ctx context.Context, id int64) (p Progress, ok bool, err error) {
	var list []Progress
	if err := db.SelectContext(ctx, &list, db.sql(`select job_id, attempt, at, done, total, message from tekrar.job_progress where job_id = $1`), id); err != nil {
		return p, false, fmt.Errorf("read job progress: %w", err)
	}
	if len(list) == 0 {
		return p, false, nil
	}
	return list[0], true, nil
}
