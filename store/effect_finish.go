package store

import (
	"context"
	"fmt"
)

// doneEffect marks the effect of a hold as done: what happens nearly always.
const doneEffect = markDone + freshColumns

const markDone = `update tekrar.effect_claims c set state = 4, doubt_at = null, reason = null, touched_at = clock_timestamp(),
    receipt = case when c.state = 4 then c.receipt else nullif($3, '')::jsonb end,
    settled_at = coalesce(c.settled_at, clock_timestamp()), effect_at = coalesce(c.effect_at, clock_timestamp())
  where c.key = $1 and c.token = $2 and c.state in (1, 2, 3, 4) returning `

// One statement marks the effect as done or, when the token no longer holds, keeps
// the receipt as evidence. A receipt also settles what nobody holds and nobody
// knew: it proves that the effect of that generation happened.
const finishEffect = `with done as (
  ` + markDone + `c.*
), late as (
  insert into tekrar.effect_receipts (key, token, job_id, attempt, generation, receipt)
  select $1, $2, nullif($4::bigint, 0), nullif($5::integer, 0), $6::integer, nullif($3, '')::jsonb
  where not exists (select 1 from done) and not exists (select 1 from tekrar.effect_receipts e
    where e.key = $1 and e.token = $2 and e.receipt is not distinct from nullif($3, '')::jsonb)
), proven as (
  update tekrar.effect_claims c set state = 4, doubt_at = null, touched_at = clock_timestamp(), settled_at = clock_timestamp(),
    receipt = nullif($3, '')::jsonb, reason = 'Proven by a receipt that came late'
  where c.key = $1 and c.token <> $2 and c.generation = $6 and c.state = 3 and not exists (select 1 from done)
)
select ` + effectColumns + ` from done c`

// FinishEffect marks the effect of a hold as done. receipt is JSON, empty for
// none. ErrStateChanged: the hold was another's; the receipt is kept as evidence.
func (db *DB) FinishEffect(ctx context.Context, q Querier, hold Effect, receipt string) (Effect, error) {
	e, found, err := db.oneEffect(ctx, q, doneEffect, hold.Key, hold.Token, receipt)
	if err != nil || found {
		if err != nil {
			err = fmt.Errorf("finish effect claim: %w", err)
		}
		return e, err
	}
	return db.changedEffect(ctx, q, "finish", finishEffect, hold.Key, hold.Token, receipt,
		hold.Holder.JobID, hold.Holder.Attempt, hold.Generation)
}
