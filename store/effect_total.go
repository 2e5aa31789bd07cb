package store

import (
	"context"
	"fmt"
	"time"
)

// Counted as far as CountMax: of a table of millions of done claims more would
// cost a walk over them. $1 is CountMax+1.
const (
	openTotal   = `(select count(*) from (select 1 from tekrar.effect_claims where state in (1, 2, 3) and claimed_at >= '-infinity' limit $1) o)`
	effectTotal = `select ` + openTotal + `,
  (select count(*) from (select 1 from tekrar.effect_claims where state = 3 limit $1) u),
  (select count(*) from (select 1 from tekrar.effect_claims where state = 4 limit $1) d),
  (select count(*) from (select 1 from tekrar.effect_claims where state = 5 limit $1) r)
    + (select count(*) from (select 1 from tekrar.effect_claims where state = 6 limit $1) f)`
)

var pending = "select " + retrying + ", " + openTotal

// EffectTotals counts what the list of each tab holds, exact to 10,000.
func (db *DB) EffectTotals(ctx context.Context) (map[EffectTab]Count, error) {
	var n [4]int64
	err := db.QueryRowContext(ctx, db.sql(effectTotal), CountMax+1).Scan(&n[0], &n[1], &n[2], &n[3])
	if err != nil {
		return nil, fmt.Errorf("count effect claims: %w", err)
	}
	out := map[EffectTab]Count{}
	for i, t := range EffectTabs {
		out[t] = bounded(n[i])
	}
	return out, nil
}

// Pending is what waits for its time or for a decision.
type Pending struct {
	Retrying  int64      // as Retrying
	NextRetry *time.Time // nil: none waits
	Unsettled Count      // claims, as the list of TabUnsettled holds them
}

// Pending reads both in one query.
func (db *DB) Pending(ctx context.Context) (p Pending, err error) {
	var n int64
	if err := db.QueryRowContext(ctx, db.sql(pending), CountMax+1).Scan(&p.Retrying, &p.NextRetry, &n); err != nil {
		return Pending{}, fmt.Errorf("count what is pending: %w", err)
	}
	p.Unsettled = bounded(n)
	return p, nil
}
