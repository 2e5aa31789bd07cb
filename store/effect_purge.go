package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// PurgedEffects is what a purge removed, or would have, and what it left and why.
type PurgedEffects struct {
	Removed   int `json:"removed"`
	Young     int `json:"young"`     // settled, but used within the window
	Unsettled int `json:"unsettled"` // claimed, begun or unknown
	Reserved  int `json:"reserved"`
	JobFailed int `json:"job_failed"` // settled and old, but the job failed and can be requeued
	JobLive   int `json:"job_live"`   // settled and old, but the job waits or runs
}

const purgeChunk = 1000

// The claims of a job that can still run stay: at its next attempt they say what
// has happened already.
const purgeEffects = `with old as materialized (
  select c.key, c.touched_at, exists (select 1 from tekrar.failed f where f.job_id = c.job_id) as failed,
    exists (select 1 from tekrar.ready r where r.job_id = c.job_id) or exists (select 1 from tekrar.scheduled s where s.job_id = c.job_id)
      or exists (select 1 from tekrar.running n where n.job_id = c.job_id) as live
  from tekrar.effect_claims c
  where c.state in (4, 5, 6) and c.state = $5 and (c.touched_at, c.key) > ($1::timestamptz, $2) and c.touched_at < clock_timestamp() - $3::bigint * interval '1 microsecond'
  order by c.touched_at, c.key limit $4 %s
), gone as (
  %s
)
select o.key, o.touched_at, o.failed, o.live, g.key is not null
from old o left join gone g on g.key = o.key order by o.touched_at, o.key`

// A claim that was used again meanwhile has moved its touched_at.
const removeEffects = `delete from tekrar.effect_claims c using old o where c.key = o.key and c.touched_at = o.touched_at
    and c.state in (4, 5, 6) and not o.failed and not o.live returning c.key
), receipts as (
  delete from tekrar.effect_receipts e using gone g where e.key = g.key`

var (
	purgeStatement  = fmt.Sprintf(purgeEffects, "for update of c skip locked", removeEffects)
	dryRunStatement = fmt.Sprintf(purgeEffects, "", `select key from old where not failed and not live`)
)

// PurgeEffects removes claims that are done, failed or released and were not used
// for window, unless their job can still run. dryRun only counts.
func (db *DB) PurgeEffects(ctx context.Context, window time.Duration, dryRun bool) (all PurgedEffects, err error) {
	text := purgeStatement
	if dryRun {
		text = dryRunStatement
	}
	for _, state := range []EffectState{EffectDone, EffectReleased, EffectFailed} {
		if err := db.purgeState(ctx, text, state, window, &all); err != nil {
			return all, fmt.Errorf("purge effect claims: %w", err)
		}
	}
	err = db.snapshotEffects(ctx, `select count(*) filter (where state in (1, 2, 3)), count(*) filter (where state = 7),
  count(*) filter (where state in (4, 5, 6) and touched_at >= clock_timestamp() - $1::bigint * interval '1 microsecond') from tekrar.effect_claims`,
		func(r *sql.Rows) error { return r.Scan(&all.Unsettled, &all.Reserved, &all.Young) }, window.Microseconds())
	return all, err
}

// purgeState does so for the claims of one state, and adds what it did to all.
func (db *DB) purgeState(ctx context.Context, text string, state EffectState, window time.Duration, all *PurgedEffects) error {
	after, key := "-infinity", ""
	for {
		var chunk PurgedEffects
		n, lastAt, lastKey := 0, after, key
		err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
			n, chunk = 0, PurgedEffects{}
			return db.onEffects(ctx, tx, text, func(r *sql.Rows) error {
				var failed, live, gone bool
				if err := r.Scan(&lastKey, &lastAt, &failed, &live, &gone); err != nil {
					return err
				}
				n++
				switch {
				case gone:
					chunk.Removed++
				case failed:
					chunk.JobFailed++
				case live:
					chunk.JobLive++
				}
				return nil
			}, after, key, window.Microseconds(), purgeChunk, state)
		})
		if err != nil || n == 0 {
			return err
		}
		all.Removed, all.JobFailed, all.JobLive = all.Removed+chunk.Removed, all.JobFailed+chunk.JobFailed, all.JobLive+chunk.JobLive
		after, key = lastAt, lastKey
	}
}
