package store

import (
	"context"
	"errors"
	"time"
)

// ErrEffectExpired: the provider's key life, counted from the first possible
// effect, is over.
var ErrEffectExpired = errors.New("key life over")

const heldEffect = `c.key = $1 and c.token = $2 and (c.job_id is null or ` + effectAlive + `)`

const withinKeyLife = `($3::bigint = 0 or c.effect_at is null or clock_timestamp() < c.effect_at + ($3 - $4::bigint) * interval '1 microsecond')`

// A sign of life: who begins in time is not taken over while the effect runs.
const beginEffect = `update tekrar.effect_claims c set state = 2, begun_at = coalesce(c.begun_at, clock_timestamp()),
  effect_at = coalesce(c.effect_at, clock_timestamp()), touched_at = clock_timestamp(), key_life_us = nullif($3, 0),
  stale_at = greatest(c.stale_at, clock_timestamp() + c.stale_us * interval '1 microsecond')
where ` + heldEffect + ` and c.state in (1, 2) and ` + withinKeyLife + ` returning ` + effectColumns

const expiredEffect = `select ` + effectColumns + ` from tekrar.effect_claims c
where ` + heldEffect + ` and c.state in (1, 2) and not ` + withinKeyLife

// BeginEffect marks that the effect may happen from now on. life is how long the
// provider remembers the key (0: no limit), margin the part of it not to be used.
// ErrStateChanged: the token or its attempt no longer holds. ErrEffectExpired: a
// send could be a second effect.
func (db *DB) BeginEffect(ctx context.Context, q Querier, key string, token int64, life, margin time.Duration) (Effect, error) {
	args := []any{key, token, life.Microseconds(), margin.Microseconds()}
	e, err := db.changedEffect(ctx, q, "begin", beginEffect, args...)
	if errors.Is(err, ErrStateChanged) && life > 0 {
		if _, expired, err := db.oneEffect(ctx, q, expiredEffect, args...); err == nil && expired {
			return e, ErrEffectExpired
		}
	}
	return e, err
}

const settleEffect = `update tekrar.effect_claims c set
  state = case when c.doubt_at is not null then 3 else $3::smallint end,
  doubt_at = case when $3 = 3 then coalesce(c.doubt_at, c.effect_at, clock_timestamp()) else c.doubt_at end,
  settled_at = case when $3 = 3 or c.doubt_at is not null then null else clock_timestamp() end,
  touched_at = clock_timestamp(), reason = nullif($4, '')
where c.key = $1 and c.token = $2 and (c.state in (1, 2) or c.state = $3) returning ` + effectColumns

// SettleEffect ends a hold as EffectReleased, EffectFailed or EffectUnknown. What
// was in doubt before this hold stays unknown whatever became of this one.
func (db *DB) SettleEffect(ctx context.Context, q Querier, key string, token int64, to EffectState, reason string) (Effect, error) {
	return db.changedEffect(ctx, q, "settle", settleEffect, key, token, to, reason)
}

const extendEffect = `update tekrar.effect_claims c set touched_at = clock_timestamp(),
  stale_at = greatest(c.stale_at, clock_timestamp() + $3::bigint * interval '1 microsecond')
where ` + heldEffect + ` and c.state in (1, 2) returning ` + effectColumns

// ExtendEffect keeps a claim for d from now.
func (db *DB) ExtendEffect(ctx context.Context, q Querier, key string, token int64, d time.Duration) (Effect, error) {
	return db.changedEffect(ctx, q, "extend", extendEffect, key, token, d.Microseconds())
}

const undoubtEffect = `update tekrar.effect_claims c set doubt_at = null, touched_at = clock_timestamp()
where ` + heldEffect + ` and c.state = 1 returning ` + effectColumns

// UndoubtEffect writes down that the earlier effect has not happened: the
// provider was asked.
func (db *DB) UndoubtEffect(ctx context.Context, q Querier, key string, token int64) (Effect, error) {
	return db.changedEffect(ctx, q, "clear", undoubtEffect, key, token)
}
