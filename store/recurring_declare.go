package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// RecurringByID reads recurring jobs without their fires.
func (db *DB) RecurringByID(ctx context.Context, ids []string) (map[string]*RecurringRow, error) {
	var rows []*RecurringRow
	err := db.SelectContext(ctx, &rows, db.sql(`select `+recurringColumns+` from tekrar.recurring r where r.id = any($1)`), pq.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("read recurring jobs: %w", err)
	}
	byID := make(map[string]*RecurringRow, len(rows))
	for _, r := range rows {
		r.normal()
		byID[r.ID] = r
	}
	return byID, nil
}

const removeUndeclared = `update tekrar.recurring r set removed_at = clock_timestamp(), updated_at = clock_timestamp()
where r.declared and r.removed_at is null and r.kind = any(coalesce($1::text[], '{}')) and not (r.id = any(coalesce($2::text[], '{}')))
  and not exists (select 1 from tekrar.servers s
    where s.stopped_at is null and s.lost_at is null and r.id = any(s.recurring))
returning r.id`

// RemoveUndeclared marks recurring jobs as removed that came from code which is
// gone: of one of the kinds, not among the declared ids, and declared by no server
// that is neither stopped nor lost. A lease that merely ran out, as all do in a long
// outage, removes nothing.
func (db *DB) RemoveUndeclared(ctx context.Context, kinds, declared []string) (removed []string, err error) {
	text := db.sql(removeUndeclared)
	err = db.firers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error {
			var id string
			err := r.Scan(&id)
			removed = append(removed, id)
			return err
		}, pq.Array(kinds), pq.Array(declared))
	})
	if err != nil {
		return nil, fmt.Errorf("remove recurring jobs that nobody declares: %w", err)
	}
	return removed, nil
}

// RecurringRule is what says when a recurring job fires next.
type RecurringRule struct {
	Spec, Zone     string
	StartAt, EndAt *time.Time
	CreatedAt      time.Time
	Stopped        bool // paused or removed: it does not fire
}

// RecurringRule reads the rule of a recurring job. ErrNotFound when there is none.
func (db *DB) RecurringRule(ctx context.Context, id string) (rule RecurringRule, err error) {
	found := false
	text := db.sql(`select spec, zone, start_at, end_at, created_at, paused_at is not null or removed_at is not null
from tekrar.recurring where id = $1`)
	err = db.firers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error {
			found = true
			return r.Scan(&rule.Spec, &rule.Zone, &rule.StartAt, &rule.EndAt, &rule.CreatedAt, &rule.Stopped)
		}, id)
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	if err != nil {
		return RecurringRule{}, fmt.Errorf("read the rule of recurring job %q: %w", id, err)
	}
	return rule, nil
}

// pruneFires keeps the newest 20 fires of each, and every fire whose job is there.
const pruneFires = `delete from tekrar.recurring_fires where ctid = any(array(
select f.ctid from tekrar.recurring r
cross join lateral (select fire_at from tekrar.recurring_fires where recurring_id = r.id order by fire_at desc offset 20 limit 1) k
cross join lateral (
  select ctid from tekrar.recurring_fires
  where recurring_id = r.id and fire_at <= least(k.fire_at, clock_timestamp() - $1 * interval '1 microsecond') and job_id is null and outcome <> 3
  order by fire_at limit 2000) f limit 2000)) returning recurring_id`

// PruneFires removes fires older than keep whose jobs are gone, but never the
// newest 20 of a recurring job.
func (db *DB) PruneFires(ctx context.Context, keep time.Duration) (n int, err error) {
	text := db.sql(pruneFires)
	for {
		chunk := 0
		err := db.firers().with(ctx, func(s *session) error {
			return s.query(ctx, text, func(*sql.Rows) error { chunk++; return nil }, keep.Microseconds())
		})
		n += chunk
		if err != nil || chunk < 2000 {
			return n, err
		}
	}
}
