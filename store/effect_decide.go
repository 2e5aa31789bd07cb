package store

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Each decision of a person is a change of the claim as that person saw it (key
// and token) and an audit row, in one statement.
const decideEffect = `with c as (
  update tekrar.effect_claims c set touched_at = clock_timestamp(), %s
  where c.key = $1 and c.token = $2 and $5::smallint in (0, c.state) and %s returning c.*
), audited as (
  insert into tekrar.audit (actor, action, job_id, detail)
  select $3, '%s', c.job_id, jsonb_build_object('key', c.key, 'token', $2::bigint, 'generation', c.generation) from c
) select ` + effectColumns + ` from c`

const openOrStale = `(c.state = 3 or c.state in (1, 2) and ` + effectStale + `)`

var (
	markDelivered = fmt.Sprintf(decideEffect, `state = 4, doubt_at = null, reason = 'Marked as delivered by ' || $3, settled_at = clock_timestamp(),
    effect_at = coalesce(c.effect_at, clock_timestamp()), receipt = jsonb_build_object('marked_by', $3::text, 'note', $4::text)`,
		openOrStale, "mark delivered")
	markNotDelivered = fmt.Sprintf(decideEffect, `state = 5, doubt_at = null, token = nextval('tekrar.effect_tokens'),
    reason = 'Marked as not delivered by ' || $3 || coalesce(': ' || nullif($4, ''), ''), settled_at = clock_timestamp()`,
		openOrStale, "mark not delivered")
	sendAgain = fmt.Sprintf(decideEffect, `state = 5, doubt_at = null, effect_at = null, begun_at = null, generation = c.generation + 1,
    token = nextval('tekrar.effect_tokens'), receipt = null, fingerprint = null, settled_at = clock_timestamp(),
    past = `+effectPast+` || jsonb_build_array(jsonb_build_object('generation', c.generation, 'receipt', c.receipt, 'sent_again_by', $3::text)),
    reason = 'To be sent again, by ' || $3 || coalesce(': ' || nullif($4, ''), '')`,
		`(c.state in (4, 5, 6) or `+openOrStale+`)`, "send again")
	freeStale = fmt.Sprintf(decideEffect, `state = case when c.state = 2 or c.doubt_at is not null then 3 else 5 end,
    doubt_at = case when c.state = 2 then coalesce(c.doubt_at, c.effect_at) else c.doubt_at end, token = nextval('tekrar.effect_tokens'),
    reclaims = c.reclaims + 1, past = `+effectPast+`,
    reason = 'Taken from its holder by ' || $3 || coalesce(': ' || nullif($4, ''), '')`,
		`c.state in (1, 2) and `+effectStale, "reclaim effect")
)

// EffectDecision is what a person does about a claim.
type EffectDecision int

// The decisions. All but Again are possible only while nobody who lives holds the claim.
const (
	EffectDelivered    EffectDecision = iota + 1 // it happened: done
	EffectNotDelivered                           // it did not: released
	EffectAgain                                  // do it again on purpose: a new generation, with a provider key of its own
	EffectReclaim                                // the holder is gone: released, or unknown if it had begun
)

// DecideEffect carries out a person's decision about the claim as it was seen: its
// token, and its state unless seen is 0. ErrStateChanged: somebody was faster, or
// its holder lives.
func (db *DB) DecideEffect(ctx context.Context, actor, key string, token int64, seen EffectState, d EffectDecision, note string) (e Effect, err error) {
	text := map[EffectDecision]string{EffectDelivered: markDelivered, EffectNotDelivered: markNotDelivered,
		EffectAgain: sendAgain, EffectReclaim: freeStale}[d]
	err = db.Tx(ctx, func(tx *sqlx.Tx) error {
		e, err = db.changedEffect(ctx, tx, "decide on", text, key, token, actor, note, seen)
		return err
	})
	return e, err
}
