package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// finishedKinds walks the index from kind to kind: its cost is the number of
// kinds, not of jobs. It comes to each kind by its newest jobs: the entries of those
// removed last are still there at the other end.
const finishedKinds = `with recursive k as (
  (select kind from tekrar.history where state = $1 and state in (4, 6) order by kind desc limit 1)
  union all
  select (select h.kind from tekrar.history h where h.state = $1 and h.state in (4, 6) and h.kind < k.kind order by h.kind desc limit 1)
  from k where k.kind is not null
) select k.kind, coalesce(case when $1 = 4 then own.keep_succeeded_ms else own.keep_deleted_ms end, $2) as keep_ms
from k left join lateral (select * from tekrar.kinds where kind = k.kind offset 0) own on true where k.kind is not null`

// expiring is one kind and how far its removal has come.
type expiring struct {
	Kind   string `db:"kind"`
	KeepMS int64  `db:"keep_ms"`
	after  int64  // history id
}

// Expire removes jobs that have been in the finished state (Succeeded or
// Deleted) for longer than keep, or than their kind's own retention, with their
// history: oldest first, in chunks that neither bloat nor block, until none is
// left or ctx ends. A negative time keeps them for ever. It returns how many
// went. Failed jobs are never touched; a job that others still await stays until
// they are decided.
//
// All kinds go forward together: jobs of one time lie on the same pages, which are
// then read and logged once, and not once a kind. One process removes at a time; a
// second one that meets it leaves the rest to it. While 50 to 100 jobs a second end or
// more, it rests after each chunk for four times as long as that took: it has a
// fifth of one connection's time, and half of it once it has not come to the end for
// an hour.
func (db *DB) Expire(ctx context.Context, state State, keep time.Duration) (n int, err error) {
	start := time.Now()
	var kinds []expiring
	if err := db.SelectContext(ctx, &kinds, db.sql(finishedKinds), state, keepMS(keep)); err != nil {
		return 0, fmt.Errorf("expire %s jobs: %w", state, err)
	}
	kinds = slices.DeleteFunc(kinds, func(k expiring) bool { return k.KeepMS < 0 })
	for len(kinds) > 0 {
		i := 0
		for j := range kinds {
			if kinds[j].after < kinds[i].after {
				i = j
			}
		}
		k, began := &kinds[i], time.Now()
		chunk, next, err := db.expireChunk(ctx, state, k.Kind, time.Duration(k.KeepMS)*time.Millisecond, k.after)
		if errors.Is(err, errExpiring) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("expire %s jobs: %w", state, err)
		}
		n += chunk
		if k.after = next; next < 0 {
			kinds = slices.Delete(kinds, i, i+1)
		}
		if chunk > 0 && len(kinds) > 0 {
			if err := db.expirePause(ctx, time.Since(began), time.Since(start)); err != nil {
				return n, fmt.Errorf("expire %s jobs: %w", state, err)
			}
		}
	}
	return n, nil
}

const expireChunk = 500

// keepMS rounds up and keeps the sign: a negative time, however short, is for ever.
func keepMS(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return (d + time.Millisecond - 1).Milliseconds()
}

const (
	finishedRowsOfKind = `select id, job_id, at < clock_timestamp() - $4 * interval '1 microsecond' as old
from tekrar.history where state = $1 and state in (4, 6) and kind = $2 and id > $3 order by state, kind, id limit $5`

	lockJobs = `select id from tekrar.jobs where id = any($1) order by id for update`

	removeFinished = `with gone as materialized (
  select e.job_id from unnest($1::bigint[], $2::bigint[]) as e(job_id, id)
  where not exists (select 1 from tekrar.history h where h.job_id = e.job_id and h.id > e.id and h.state <= 6)
    and (select 1 from tekrar.awaiting a where a.parent_id = e.job_id limit 1) is null
), no_history as (
  delete from tekrar.history where job_id = any(array(select job_id from gone))
), no_log as (
  delete from tekrar.job_log where job_id = any(array(select job_id from gone))
), no_fire as (
  update tekrar.recurring_fires set state = $3, job_id = null where job_id = any(array(select job_id from gone))
), no_progress as (
  delete from tekrar.job_progress where job_id = any(array(select job_id from gone))
) delete from tekrar.jobs where id = any(array(select job_id from gone))`
)

// expireChunk looks at the next rows of one kind after a history id, and returns
// the id to go on from, negative at the end. The jobs rows are locked first and
// tested by a second statement: a job that somebody requeued in between has a
// newer history row there.
func (db *DB) expireChunk(ctx context.Context, state State, kind string, keep time.Duration, after int64) (n int, next int64, err error) {
	err = db.txRetry(ctx, func(tx *sqlx.Tx) error {
		mine := false
		if err := tx.GetContext(ctx, &mine, expireAlone, db.Schema()); err != nil {
			return err
		}
		if !mine {
			return errExpiring
		}
		var rows []struct {
			ID    int64 `db:"id"`
			JobID int64 `db:"job_id"`
			Old   bool  `db:"old"`
		}
		if err := tx.SelectContext(ctx, &rows, db.sql(finishedRowsOfKind),
			state, kind, after, keep.Microseconds(), expireChunk); err != nil {
			return err
		}
		n, next = 0, -1
		if len(rows) == expireChunk {
			next = rows[len(rows)-1].ID
		}
		var jobs, ids []int64
		for _, r := range rows {
			if !r.Old {
				next = -1
				break
			}
			jobs, ids = append(jobs, r.JobID), append(ids, r.ID)
		}
		if len(jobs) == 0 {
			return nil
		}
		db.reach("expire: rows read")
		if _, err := tx.ExecContext(ctx, db.sql(lockJobs), pq.Array(jobs)); err != nil {
			return err
		}
		if err := db.settleFollowers(ctx, tx, state, jobs, ids); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, db.sql(removeFinished), pq.Array(jobs), pq.Array(ids), state)
		if err != nil {
			return err
		}
		removed, err := r.RowsAffected()
		n = int(removed)
		db.reach("expire: jobs removed")
		return err
	})
	return n, next, err
}

// FoldStats adds minutes older than keep up to hours of UTC, all servers of a version
// in one row: hours of the connection's own zone could begin at half past.
func (db *DB) FoldStats(ctx context.Context, keep time.Duration) error {
	return db.txRetry(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, db.sql(`with old as (
  delete from tekrar.stats where minute < date_trunc('hour', clock_timestamp() - $1 * interval '1 microsecond', 'UTC')
    and (server > 0 or server = 0 and minute <> date_trunc('hour', minute, 'UTC')) returning *
), of as (
  select id, -max(id) over (partition by version) as newest from tekrar.servers where version <> ''
) insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
select date_trunc('hour', minute, 'UTC'), coalesce(of.newest, 0), sum(n), sum(run_us), sum(wait_us), outcome, attempt, bucket, queue, kind
from old left join of on of.id = old.server group by date_trunc('hour', minute, 'UTC'), of.newest, outcome, attempt, bucket, queue, kind
on conflict (minute, server, kind, queue, outcome, attempt, bucket)
do update set n = stats.n + excluded.n, run_us = stats.run_us + excluded.run_us, wait_us = stats.wait_us + excluded.wait_us`), keep.Microseconds())
		if err != nil {
			return fmt.Errorf("fold statistics: %w", err)
		}
		return nil
	})
}
