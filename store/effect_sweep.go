package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// SweptEffects is what a sweep of stale claims did.
type SweptEffects struct {
	Unknown  []string // keys: their effect had begun, or one before it was in doubt
	Released []string // keys: nothing had begun, and no job waits for them
	Requeued []int64  // jobs that the success gate had failed, nothing begun
	Waiting  int      // their jobs wait or run again and will take them over themselves
	Stuck    []string // keys: their jobs failed at the gate again and again
}

// sweepTries is how often the sweep requeues a job that leaves its claim behind.
const sweepTries = 3

// Jobs that failed for a reason of their own are let be: a permanent error is not
// cured by its claim.
const sweepEffects = `with stale as materialized (
  select c.key, c.token, c.state, c.job_id, c.reclaims, c.state = 2 or c.doubt_at is not null as doubt,
    (select f.error_type from tekrar.failed f where f.job_id = c.job_id) as failed,
    exists (select 1 from tekrar.ready r where r.job_id = c.job_id) or exists (select 1 from tekrar.scheduled s where s.job_id = c.job_id)
      or exists (select 1 from tekrar.running n where n.job_id = c.job_id) as waits
  from tekrar.effect_claims c where c.state in (1, 2) and c.claimed_at >= '-infinity' and (c.claimed_at, c.key) > ($1::timestamptz, $2) and ` + effectStale + `
  order by c.claimed_at, c.key limit 500 for update of c skip locked
), judged as (
  select s.*, case when s.doubt then 'unknown' when s.waits then 'waiting'
    when s.failed = '` + openEffectType + `' and s.reclaims < $3 then 'requeue'
    when s.failed = '` + openEffectType + `' then 'stuck' else 'released' end as verdict from stale s
), changed as (
  update tekrar.effect_claims c set touched_at = clock_timestamp(),
    state = case when j.doubt then 3 else 5 end,
    doubt_at = case when j.doubt then coalesce(c.doubt_at, c.effect_at, clock_timestamp()) end,
    settled_at = case when not j.doubt then clock_timestamp() end,
    reason = case when j.doubt then 'Its holder was lost after the effect had begun' else 'Its holder was lost before the effect had begun' end
  from judged j where c.key = j.key and c.token = j.token and c.state = j.state and j.verdict in ('unknown', 'released')
)
select j.key, coalesce(j.job_id, 0), j.verdict, c.claimed_at from judged j join tekrar.effect_claims c on c.key = j.key order by c.claimed_at, c.key`

// SweepEffects settles claims whose holders are gone: to unknown where the effect
// may have happened, to released where it has not. It requeues jobs that the
// success gate failed before anything had begun. It never does an effect.
func (db *DB) SweepEffects(ctx context.Context, actor string) (all SweptEffects, err error) {
	after, key := "-infinity", ""
	requeue := map[int64]bool{}
	for {
		n := 0
		err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
			n = 0
			return db.onEffects(ctx, tx, sweepEffects, func(r *sql.Rows) error {
				n++
				var job int64
				var verdict string
				if err := r.Scan(&key, &job, &verdict, &after); err != nil {
					return err
				}
				switch verdict {
				case "unknown":
					all.Unknown = append(all.Unknown, key)
				case "released":
					all.Released = append(all.Released, key)
				case "requeue":
					requeue[job] = true
				case "stuck":
					all.Stuck = append(all.Stuck, key)
				default:
					all.Waiting++
				}
				return nil
			}, after, key, sweepTries)
		})
		if err != nil {
			return all, fmt.Errorf("sweep effect claims: %w", err)
		}
		if n == 0 {
			break
		}
	}
	var targets []Target
	for id := range requeue {
		targets = append(targets, Target{ID: id, Expected: Failed})
	}
	moved, err := db.Requeue(ctx, actor, false, targets)
	for _, m := range moved {
		if m.Err == nil {
			all.Requeued = append(all.Requeued, m.ID)
		}
	}
	return all, err
}
