package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// EffectTry is one wish to hold an effect claim.
type EffectTry struct {
	Key         string
	Fingerprint string // of the content; empty: any
	Holder      EffectHolder
	Begin       bool // begin at once, unless an earlier effect asks for a closer look
	Resend      bool // take over claims whose effect may have happened
	KeyLife     time.Duration
}

// firstEffect takes a key that nobody has had, which most keys are: one short
// statement. Whoever is too late there goes on with claimEffect.
const firstEffect = insertEffect + `nothing returning ` + freshColumns

const insertEffect = `insert into tekrar.effect_claims as c
  (key, state, job_id, attempt, server, holder, fingerprint, begun_at, effect_at, stale_at, stale_us, key_life_us)
select $1, case when $8::boolean then 2 else 1 end, nullif($3::bigint, 0),
  nullif($4::integer, 0), nullif($5::bigint, 0), $6, nullif($2, ''),
  case when $8 then clock_timestamp() end, case when $8 then clock_timestamp() end,
  clock_timestamp() + $7::bigint * interval '1 microsecond', $7, nullif($9::bigint, 0)
where current_setting('transaction_isolation') = 'read committed'
  and ($3 = 0 or exists (select 1 from tekrar.running r where r.job_id = $3 and r.attempt = $4 and r.server = $5))
on conflict (key) do `

// The update moves every column that its condition tests, above all the token and
// the state: of any number of contenders who waited for the row's lock, each looks
// at the row as the one before left it, and one wins. Never by catching 23505: the
// caller's transaction would be dead.
const claimEffect = insertEffect + `update set
  token = nextval('tekrar.effect_tokens'), claimed_at = clock_timestamp(), touched_at = clock_timestamp(),
  state = case when $8 and c.effect_at is null then 2 else 1 end,
  begun_at = case when $8 and c.effect_at is null then clock_timestamp() end,
  effect_at = case when $8 and c.effect_at is null then clock_timestamp() else c.effect_at end,
  doubt_at = case when c.state in (2, 3) then coalesce(c.doubt_at, c.effect_at, clock_timestamp()) else c.doubt_at end,
  reclaims = c.reclaims + (c.state in (1, 2))::integer,
  past = ` + effectPast + `,
  job_id = excluded.job_id, attempt = excluded.attempt, server = excluded.server, holder = excluded.holder,
  fingerprint = coalesce(excluded.fingerprint, c.fingerprint), stale_us = excluded.stale_us,
  stale_at = clock_timestamp() + $7 * interval '1 microsecond', key_life_us = excluded.key_life_us,
  settled_at = null, reason = null
where (c.effect_at is null or c.fingerprint is null or excluded.fingerprint is null or c.fingerprint = excluded.fingerprint)
  and (c.state in (5, 6, 7) or c.state = 1 and ` + effectStale + ` or $10::boolean and (c.state = 3 or c.state = 2 and ` + effectStale + `))
returning ` + effectColumns

// effectPast keeps the latest 20 former holders.
const effectPast = `(case when jsonb_array_length(c.past) >= 20 then c.past - 0 else c.past end) || case when c.state = 7 then '[]'::jsonb else
  jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('token', c.token, 'job', c.job_id, 'attempt', c.attempt, 'holder', c.holder,
  'state', c.state, 'generation', c.generation, 'claimed_at', c.claimed_at, 'begun_at', c.begun_at, 'until', coalesce(c.settled_at, clock_timestamp())))) end`

const lookEffect = `select ` + effectColumns + `, current_setting('transaction_isolation') from tekrar.effect_claims c where c.key = $1`

// The holder is gone and its effect had begun: from here on nobody knows.
const doubtEffect = `update tekrar.effect_claims c set state = 3, doubt_at = coalesce(c.doubt_at, c.effect_at, clock_timestamp()),
  touched_at = clock_timestamp(), reason = 'Its holder was lost after the effect had begun'
where c.key = $1 and c.token = $2 and c.state = 2 and ` + effectStale + ` returning ` + effectColumns

// touchEffect slides the purge window of a done claim that is still asked for.
const touchEffect = `update tekrar.effect_claims c set touched_at = clock_timestamp()
where c.key = $1 and c.token = $2 and c.touched_at < clock_timestamp() - interval '1 day' returning ` + effectColumns

// ClaimEffect tries to take the claim. took: the row is the caller's now. Else the
// row says why not: done, unknown, held by another, or claimed for other content.
// ErrStateChanged: it is free, but the attempt no longer holds its job.
func (db *DB) ClaimEffect(ctx context.Context, q Querier, t EffectTry) (row Effect, took bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("claim effect: %w", err)
		}
	}()
	wish := []any{t.Key, t.Fingerprint, t.Holder.JobID, t.Holder.Attempt, t.Holder.Server,
		t.Holder.Name, t.Holder.StaleAfter.Microseconds(), t.Begin, t.KeyLife.Microseconds()}
	if row, took, err = db.oneEffect(ctx, q, firstEffect, wish...); err != nil || took {
		return row, took, err
	}
	// What the look finds free was not free to the statement before it: try again.
	for range 5 {
		row, took, err = db.oneEffect(ctx, q, claimEffect, append(wish[:len(wish):len(wish)], t.Resend)...)
		if err != nil || took {
			return row, took, err
		}
		db.reach("effect: not taken")
		again := false
		if row, again, err = db.lookAtEffect(ctx, q, t); err != nil || !again {
			return row, false, err
		}
		if err = db.needAttempt(ctx, q, t.Holder); err != nil {
			return row, false, err
		}
	}
	return row, false, nil
}

func (db *DB) lookAtEffect(ctx context.Context, q Querier, t EffectTry) (row Effect, again bool, err error) {
	level, found := "", false
	err = db.onEffects(ctx, q, lookEffect, func(r *sql.Rows) (err error) {
		found = true
		row, err = scanEffect(r, &level)
		return err
	}, t.Key)
	switch {
	case err != nil:
		return row, false, err
	case !found:
		return row, true, db.needReadCommitted(ctx, q)
	case level != "read committed":
		return row, false, errIsolation(level)
	case row.Fingerprint != t.Fingerprint && row.Fingerprint != "" && t.Fingerprint != "" && row.EffectAt != nil:
		return row, false, nil
	}
	switch row.State {
	case EffectReleased, EffectFailed, EffectReserved:
		return row, true, nil
	case EffectClaimed:
		return row, row.Stale, nil
	case EffectUnknown:
		return row, t.Resend, nil
	case EffectDone:
		_, _, err = db.oneEffect(ctx, q, touchEffect, row.Key, row.Token)
		return row, false, err
	case EffectBegun:
		if !row.Stale {
			return row, false, nil
		}
		if t.Resend {
			return row, true, nil
		}
		doubted, found, err := db.oneEffect(ctx, q, doubtEffect, row.Key, row.Token)
		return doubted, !found, err
	}
	return row, false, nil
}

// needReadCommitted: the claim wrote nothing although there is no such row.
func (db *DB) needReadCommitted(ctx context.Context, q Querier) error {
	var level string
	err := db.onEffects(ctx, q, `select current_setting('transaction_isolation')`, func(r *sql.Rows) error { return r.Scan(&level) })
	if err == nil && level != "read committed" {
		err = errIsolation(level)
	}
	return err
}

func (db *DB) needAttempt(ctx context.Context, q Querier, h EffectHolder) error {
	if h.JobID == 0 {
		return nil
	}
	lives := false
	err := db.onEffects(ctx, q, `select exists (select 1 from tekrar.running r where r.job_id = $1 and r.attempt = $2 and r.server = $3)`,
		func(r *sql.Rows) error { return r.Scan(&lives) }, h.JobID, h.Attempt, h.Server)
	if err == nil && !lives {
		err = ErrStateChanged
	}
	return err
}

func errIsolation(level string) error {
	return fmt.Errorf("the transaction is %s: effect claims need read committed, where a waiting claim sees what the one before it wrote", level)
}
