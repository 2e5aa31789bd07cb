package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// A receipt tells of the same effect if it differs in nothing but whether it was
// replayed, and when.
const receiptIdentity = `case when jsonb_typeof(%[1]s) <> 'object' then %[1]s
  when %[1]s ->> 'reference' <> '' then %[1]s -> 'reference' else %[1]s - array['replayed', 'at', 'status'] end`

var isDuplicate = `(e.generation = c.generation and c.state = 4 and e.token <> c.token and ` +
	fmt.Sprintf(receiptIdentity, "e.receipt") + ` is distinct from ` + fmt.Sprintf(receiptIdentity, "c.receipt") + `)`

var effectDuplicates = `(select count(*) from tekrar.effect_receipts e where e.key = c.key and ` + isDuplicate + `)`

var lateReceipts = `select e.token, coalesce(e.job_id, 0), coalesce(e.attempt, 0), e.generation, e.at, coalesce(e.receipt::text, 'null'),
  coalesce((select ` + isDuplicate + ` from tekrar.effect_claims c where c.key = e.key), false)
from tekrar.effect_receipts e where e.key = $1 order by e.key, e.id limit 100`

var duplicatesSince = `select count(*) from (
  select 1 from tekrar.effect_receipts e cross join lateral (select * from tekrar.effect_claims where key = e.key offset 0) c
  where e.at >= statement_timestamp() - $1::bigint * interval '1 microsecond' and ` + isDuplicate + ` limit $2) d`

// DuplicatesSince counts the late receipts of the last d that tell of another
// effect than the one that their claim kept: each is an effect too many.
func (db *DB) DuplicatesSince(ctx context.Context, d time.Duration) (Count, error) {
	var n int64
	if err := db.QueryRowContext(ctx, db.sql(duplicatesSince), d.Microseconds(), CountMax+1).Scan(&n); err != nil {
		return Count{}, fmt.Errorf("count duplicates: %w", err)
	}
	return bounded(n), nil
}

// Effect returns one claim; ErrNotFound.
func (db *DB) Effect(ctx context.Context, key string) (Effect, error) {
	all, err := db.effects(ctx, `where c.key = $1`, key)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("effect claim: %w", ErrNotFound)
	}
	if err != nil {
		return Effect{}, err
	}
	return all[0], nil
}

// EffectFilter selects claims. The zero value is all unsettled ones.
type EffectFilter struct {
	States []EffectState // none: claimed, begun, unknown
	After  string        // the last key of the page before
	Limit  int           // default 50
}

// Effects lists claims by key.
func (db *DB) Effects(ctx context.Context, f EffectFilter) ([]Effect, error) {
	if len(f.States) == 0 {
		f.States = []EffectState{EffectClaimed, EffectBegun, EffectUnknown}
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	return db.effects(ctx, `where c.key > $1 and c.state = any($2::smallint[]) order by c.key limit $3`, f.After, pq.Array(f.States), f.Limit)
}

// JobEffects lists the claims whose last holder was an attempt of the job, at most 100.
func (db *DB) JobEffects(ctx context.Context, job int64) ([]Effect, error) {
	return db.effects(ctx, `where c.job_id = $1 order by c.key limit 100`, job)
}

func (db *DB) effects(ctx context.Context, where string, args ...any) (all []Effect, err error) {
	err = db.snapshotEffects(ctx, `select `+effectColumns+`, `+effectDuplicates+` from tekrar.effect_claims c `+where,
		func(r *sql.Rows) error {
			duplicates := 0
			e, err := scanEffect(r, &duplicates)
			e.Duplicates = duplicates
			all = append(all, e)
			return err
		}, args...)
	return all, err
}

func (db *DB) snapshotEffects(ctx context.Context, text string, scan func(*sql.Rows) error, args ...any) error {
	rows, err := db.QueryContext(ctx, db.sql(text), args...)
	if err != nil {
		return fmt.Errorf("read effect claims: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read effect claims: %w", err)
		}
	}
	return rows.Err()
}

// EffectCounts counts claims by state.
func (db *DB) EffectCounts(ctx context.Context) (map[EffectState]int64, error) {
	counts := map[EffectState]int64{}
	err := db.snapshotEffects(ctx, `select state, count(*) from tekrar.effect_claims group by state`, func(r *sql.Rows) error {
		var s EffectState
		var n int64
		err := r.Scan(&s, &n)
		counts[s] = n
		return err
	})
	return counts, err
}

// LateReceipt is a receipt that came when its claim was another's.
type LateReceipt struct {
	Token      int64
	JobID      int64
	Attempt    int
	Generation int
	At         time.Time
	Receipt    json.RawMessage
	Duplicate  bool // it tells of another effect than the receipt that the claim kept
}

// LateReceipts lists what came too late for a key, oldest first, at most 100.
func (db *DB) LateReceipts(ctx context.Context, key string) (all []LateReceipt, err error) {
	err = db.snapshotEffects(ctx, lateReceipts, func(r *sql.Rows) error {
		var e LateReceipt
		var receipt string
		err := r.Scan(&e.Token, &e.JobID, &e.Attempt, &e.Generation, &e.At, &receipt, &e.Duplicate)
		e.Receipt = json.RawMessage(receipt)
		all = append(all, e)
		return err
	}, key)
	return all, err
}
