package store_test

import (
	"regexp"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// No statement on claims walks a table that grows, and the success gate costs one
// look into the index of unsettled claims.
func TestEffectStatementsKeepTheirPlans(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.Fresh(t)) // it leaves bloat
	walks := regexp.MustCompile(`Seq Scan on (effect_\w+|jobs|running|ready|scheduled|failed|servers)|(Hash|Merge) \w*Join|Hash Anti`)
	gate := regexp.MustCompile(`One-Time Filter: \(i\w*\.state = 4\)\s+-> +Index Scan using effect_claims_unsettled on effect_claims c\s+Index Cond: \(job_id = i\w*\.job_id\)`)
	looked := func(when string) {
		t.Helper()
		for name, r := range store.EffectWritings(e.db) {
			if plan := explain(t, e.db, r); walks.MatchString(plan) {
				t.Errorf("%s, %s:\n%s", name, when, plan)
			}
		}
		if plan := explain(t, e.db, store.Writings(e.db)["settle"]); !gate.MatchString(plan) {
			t.Errorf("settle, %s: the gate does not take its index\n%s", when, plan)
		}
	}
	analyze := func() {
		t.Helper()
		storetest.Exec(t, e.db, "analyze")
	}
	looked("empty")
	analyze()
	looked("empty, analyzed")
	e.exec(`insert into tekrar.effect_claims (key, state, job_id, attempt, server, stale_at, stale_us)
		select 'k' || g, case when g % 100 = 0 then 1 + g % 3 else 4 end, g, 1, 1, now(), 0 from generate_series(1, 30000) g`)
	looked("full, never analyzed")
	analyze()
	looked("full")
	e.exec(`delete from tekrar.effect_claims`)
	looked("bloated, statistics of before")
}
