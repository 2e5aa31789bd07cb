package store_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// manyClaims are n claims: of a hundred one unsettled of each kind, one released,
// one failed, the rest done. n calls, and as many late receipts as a tenth.
func manyClaims(e *engine, n int) {
	e.Helper()
	e.exec(fmt.Sprintf(`insert into tekrar.effect_claims (key, state, claimed_at, touched_at, stale_at, stale_us, receipt)
		select 'k' || g, case when g %% 100 < 3 then 1 + g %% 100 when g %% 100 in (5, 6) then g %% 100 else 4 end,
		  now() - g * interval '1 s', now() - g * interval '1 s', now(), 0, '{"reference": "a"}' from generate_series(1, %d) g`, n))
	e.exec(fmt.Sprintf(`insert into tekrar.effect_receipts (key, token, generation, at, receipt)
		select 'k' || g, -1, 1, now() - g * interval '1 min', '{"reference": "b"}' from generate_series(1, %d / 10) g`, n))
	e.exec(fmt.Sprintf(`insert into tekrar.provider_calls (provider, key, payload, job_id, outcome, duration_us, at)
		select 'p', 'k' || g, 'h' || g, g %% 1000, 'delivered', g, now() from generate_series(1, %d) g`, n))
}

// SCL-01: what the pages of claims and calls read is a range of an index, on empty
// tables as on full ones.
func TestClaimAndCallPagesFollowTheirIndex_SCL01(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.Fresh(t)) // it leaves bloat
	walks := regexp.MustCompile(`Seq Scan on (effect_\w+|provider_calls|jobs|history|running|servers)|(Hash|Merge) \w*Join|Hash Anti`)
	looked := func(when string) {
		t.Helper()
		for name, r := range store.PageReadings(e.db) {
			if plan := explain(t, e.db, r); walks.MatchString(plan) {
				t.Errorf("%s, %s:\n%s", name, when, plan)
			}
		}
	}
	looked("empty")
	manyClaims(e, 20_000)
	looked("full, never analyzed")
	storetest.Exec(t, e.db, "analyze")
	looked("full")
	for name, want := range map[string]string{
		"unsettled":   `using effect_claims_open on effect_claims\s+Index Cond: \(ROW\(claimed_at, key\) >`,
		"unknown":     `using effect_claims_unknown on effect_claims\s+Index Cond: \(ROW\(claimed_at, key\) >`,
		"done":        `Backward using effect_claims_settled on effect_claims\s+Index Cond: \(\(state = 4\) AND \(ROW\(touched_at, key\) <`,
		"released":    `(?s)Backward using effect_claims_settled.*\(state = 5\).*Backward using effect_claims_settled.*\(state = 6\)`,
		"by key":      `using effect_claims_pkey on effect_claims`,
		"duplicates":  `using effect_receipts_at on effect_receipts`,
		"results":     `Backward using history_finished on history`,
		"calls":       `Backward using provider_calls_pkey on provider_calls\s+Index Cond: \(id < \$1\)`,
		"job's calls": `Backward using provider_calls_job on provider_calls\s+Index Cond: \(\(job_id = \$3\) AND \(id < \$1\)\)`,
		"key's calls": `Backward using provider_calls_key on provider_calls\s+Index Cond: \(\(key = \$3\) AND \(id < \$1\)\)`,
		"keys' calls": `Backward using provider_calls_key on provider_calls`,
		"call stats":  `(?s)Limit.*Backward using provider_calls_pkey on provider_calls`,
	} {
		if plan := explain(t, e.db, store.PageReadings(e.db)[name]); !regexp.MustCompile(want).MatchString(plan) {
			t.Errorf("%s: want %s in\n%s", name, want, plan)
		}
	}
	if plan := explain(t, e.db, store.EffectWritings(e.db)["purge"]); !regexp.MustCompile(`using effect_claims_settled on effect_claims c\s+Index Cond: .*\(state = \$5\) AND \(ROW\(touched_at, key\) >`).MatchString(plan) {
		t.Errorf("purge:\n%s", plan)
	}
}

// LST-10: a tab's count is the length of its list, all pages together, and no
// claim is on two pages or on none, also when many have the same time.
func TestClaimPagesHoldEachClaimOnce_LST10(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t))
	manyClaims(e, 1000)
	e.exec(`update tekrar.effect_claims set claimed_at = date_trunc('minute', claimed_at), touched_at = date_trunc('minute', touched_at)`)
	totals, err := e.db.EffectTotals(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := map[store.EffectTab]int64{store.TabUnsettled: 30, store.TabUnknown: 10, store.TabDone: 950, store.TabReleased: 20}
	for _, tab := range store.EffectTabs {
		seen := map[string]bool{}
		var last time.Time
		for after, first := (store.EffectCursor{}), true; first || !after.IsZero(); first = false {
			back, err := store.ParseEffectCursor(tab, after.String())
			if err != nil || back != after {
				t.Fatalf("%s: cursor %v came back as %v, %v", tab, after, back, err)
			}
			var rows []store.Effect
			if rows, after, err = e.db.EffectPage(e.ctx, tab, back, 7); err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if seen[r.Key] {
					t.Errorf("%s: %s twice", tab, r.Key)
				}
				seen[r.Key] = true
				if tab == store.TabUnsettled && r.ClaimedAt.Before(last) {
					t.Errorf("%s: not oldest first", tab)
				}
				last = r.ClaimedAt
			}
		}
		if int64(len(seen)) != totals[tab].N || totals[tab].N != want[tab] {
			t.Errorf("%s: %d in the list, %d counted, want %d", tab, len(seen), totals[tab].N, want[tab])
		}
	}
	p, err := e.db.Pending(e.ctx)
	if err != nil || p.Unsettled != totals[store.TabUnsettled] {
		t.Errorf("the tile says %+v, the tab %+v: %v", p.Unsettled, totals[store.TabUnsettled], err)
	}
	rows, err := e.db.EffectsByKey(e.ctx, []string{"k7", "none", "k3"})
	if err != nil || len(rows) != 2 || rows[0].Duplicates != 1 {
		t.Errorf("by key: %+v, %v", rows, err)
	}
	if n, err := e.db.DuplicatesSince(e.ctx, 24*time.Hour); err != nil || n.N != 95 || n.AtLeast {
		t.Errorf("duplicates: %+v, %v", n, err)
	}
	if n, err := e.db.DuplicatesSince(e.ctx, 10*time.Minute+30*time.Second); err != nil || n.N != 6 {
		t.Errorf("duplicates of ten minutes: %+v, %v", n, err)
	}
}

func TestBadClaimCursors(t *testing.T) {
	t.Parallel()
	_, after, err := store.EffectTab("x"), store.EffectCursor{}, error(nil)
	if _, err = store.ParseEffectTab("x"); err == nil {
		t.Error("tab x is known")
	}
	for _, text := range []string{"x", "AA", "////", "AAAAAAAAAAAAAAA_", "BH________9rAA", "AAAAAAAAAAAAAP8"} {
		if after, err = store.ParseEffectCursor(store.TabUnsettled, text); !errors.Is(err, store.ErrBadCursor) {
			t.Errorf("%s: %v, %v", text, after, err)
		}
	}
}

func TestCallStats(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t))
	if s, err := e.db.CallStats(e.ctx); err != nil || s.Calls.N != 0 || len(s.Warnings) != 0 {
		t.Errorf("none: %+v, %v", s, err)
	}
	for _, c := range []string{
		`'k1', 'p1', 'delivered', false, 'm1', 100, now()`, `'k1', 'p1', 'delivered', true, 'm1', 200, now()`, // one effect, replayed
		`'k2', 'p2', 'refused', false, null, 300, now()`, `'k2', 'p3', 'delivered', false, 'm2', 400, now()`, // two payloads
		`'k3', 'p4', 'delivered', false, 'm3', 500, now()`, `'k3', 'p4', 'delivered', false, 'm4', 600, now()`, // two effects
		`'k4', 'p5', 'delivered', false, 'm5', 700, now()`, `'k5', 'p5', 'delivered', false, 'm6', 800, now()`, // two keys
		`'k6', 'p6', 'delivered', false, 'm7', 900, now()`, `'k6~g2', 'p6', 'delivered', false, 'm8', 1000, now()`, // sent again on purpose
		`'', 'p7', 'delivered', false, 'm9', 50, now()`, `'', 'p8', null, false, null, null, now()`, // a provider without keys; one that runs
		`'old', 'p9', 'delivered', false, 'm10', 9000000, now() - interval '25 hours'`,
	} {
		e.exec(`insert into tekrar.provider_calls (provider, key, payload, outcome, replayed, reference, duration_us, at) values ('p', ` + c + `)`)
	}
	s, err := e.db.CallStats(e.ctx)
	if err != nil || s.Calls.N != 12 || s.Answered != 11 || s.Delivered != 10 || s.Replayed != 1 || s.P95 != time.Millisecond {
		t.Errorf("%+v, %v", s, err)
	}
	var got []string
	for _, w := range s.Warnings {
		got = append(got, fmt.Sprint(w.Kind, w.Keys, w.N))
	}
	if want := []string{"payloads[k2] 2", "effects[k3] 2", "keys[k4 k5] 2"}; !slices.Equal(got, want) {
		t.Errorf("warnings %v, want %v", got, want)
	}
	rows, err := e.db.CallsOfKeys(e.ctx, []string{"k6", "k6~g2", "none"}, 10)
	if err != nil || len(rows) != 2 || rows[0].Key != "k6~g2" {
		t.Errorf("of keys: %+v, %v", rows, err)
	}
	if rows, err := e.db.CallsByID(e.ctx, []int64{rows[1].ID, 999, rows[0].ID}); err != nil || len(rows) != 2 || rows[0].Key != "k6~g2" {
		t.Errorf("by id: %+v, %v", rows, err)
	}
}

// An attempt that lost its job and came back ran until it came back.
func TestAttemptSpans(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t))
	e.exec(`insert into tekrar.jobs (id, queue, kind, args) values (7, 'q', 'k', '{}'), (8, 'q', 'k', '{}')`)
	for _, h := range []string{`7, 0, 2, 0`, `7, 1, 3, 1`, `7, 1, 2, 31`, `7, 2, 3, 32`, `7, 1, 7, 40`, `7, 2, 4, 45`, `8, 1, 3, 50`} {
		e.exec(`insert into tekrar.history (queue, kind, job_id, attempt, state, at) select 'q', 'k', j, a, s, '2026-01-01'::timestamptz + t * interval '1 s' from (values (` + h + `)) v(j, a, s, t)`)
	}
	spans, err := e.db.AttemptSpans(e.ctx, []int64{7, 8, 9})
	if err != nil || len(spans) != 3 {
		t.Fatalf("%+v, %v", spans, err)
	}
	at := func(p *time.Time) float64 {
		if p == nil {
			return -1
		}
		return p.Sub(spans[0].Start).Seconds()
	}
	if s := spans[0]; s.Attempt != 1 || at(s.End) != 30 || at(s.Late) != 39 {
		t.Errorf("attempt 1: %+v", s)
	}
	if s := spans[1]; s.Attempt != 2 || at(&s.Start) != 31 || at(s.End) != 44 || s.Late != nil {
		t.Errorf("attempt 2: %+v", s)
	}
	if s := spans[2]; s.JobID != 8 || s.End != nil {
		t.Errorf("job 8: %+v", s)
	}
}
