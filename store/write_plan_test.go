package store_test

import (
	"regexp"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Trap 2: no statement of the engine walks a table that grows, or hashes it,
// whatever the tables hold and whatever their statistics say.
func TestHotStatementsKeepTheirPlans(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.Fresh(t)) // it leaves bloat
	looked := func(when string) {
		t.Helper()
		for name, r := range store.Writings(e.db) {
			bad := wrongPlan
			if name == "reclaim" || name == "held" { // walk running, which is as small as the servers' slots
				bad = wholeTable
			}
			if plan := explain(t, e.db, r); bad.MatchString(plan) {
				t.Errorf("%s, %s:\n%s", name, when, plan)
			}
		}
	}
	analyze := func() {
		t.Helper()
		storetest.Exec(t, e.db, "analyze")
	}
	looked("empty")
	analyze()
	looked("empty, analyzed")
	e.exec(`insert into tekrar.jobs (id, queue, kind, args) select g, 'q' || g % 3, 'k' || g % 5, '{}' from generate_series(1, 50000) g`)
	e.exec(`insert into tekrar.history (job_id, attempt, state, queue, kind) select g, 1, case when g % 5 < 3 then 4 else 2 end, 'q' || g % 3, 'k' || g % 5 from generate_series(1, 50000) g`)
	e.exec(`insert into tekrar.ready (job_id, queue, kind) select g, 'q' || g % 3, 'k' || g % 5 from generate_series(1, 50000, 4) g`)
	e.exec(`insert into tekrar.running (job_id, server, attempt, queue, kind) select g, g % 3, 1, 'q' || g % 3, 'k' || g % 5 from generate_series(2, 50000, 4) g`)
	e.exec(`insert into tekrar.scheduled (job_id, run_at, queue, kind) select g, now(), 'q' || g % 3, 'k' || g % 5 from generate_series(3, 50000, 4) g`)
	e.exec(`insert into tekrar.failed (job_id, queue, kind) select g, 'q' || g % 3, 'k' || g % 5 from generate_series(4, 50000, 4) g`)
	e.exec(`insert into tekrar.awaiting (job_id, parent_id, condition, queue, kind) select g, g - 2, 1 + g % 3, 'q' || g % 3, 'k' || g % 5 from generate_series(4, 50000, 4) g`)
	looked("full, never analyzed")
	analyze()
	looked("full")
	for _, table := range []string{"ready", "running", "scheduled", "failed", "awaiting"} {
		e.exec(`delete from tekrar.` + table)
	}
	looked("bloated, statistics of before")
	analyze()
	looked("bloated")
}

var wrongPlan = regexp.MustCompile(wholeTable.String() + `|Seq Scan on (ready|running|scheduled|failed|awaiting|stats|servers)`)

// What makes them fast: the index of each, and rows taken by their place.
func TestHotStatementsFollowTheirIndex(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.Fresh(t)) // it leaves bloat
	for name, want := range map[string][]string{
		"claim":        {`Index Scan using ready_lane on ready\w*\s+Index Cond: \(\(queue = lane.queue\) AND \(priority = lane.priority\) AND \(ready_at >=`, `Tid Scan on ready`, `Index Scan using jobs_pkey`},
		"settle":       {`Index Scan using running_pkey on running\w*\s+Index Cond: \(job_id = i\w*.job_id\)`, `Tid Scan on running`},
		"continue":     {`Index Scan using awaiting_parent on awaiting a\s+Index Cond: \(parent_id = i.id`, `history_pkey on history\w*\s+Index Cond: \(job_id = a.parent_id`, `Tid Scan on awaiting`},
		"promote":      {`Index Scan using scheduled_due on scheduled\w*\s+Index Cond: \(run_at <=`, `Tid Scan on scheduled`},
		"reclaim":      {`Tid Scan on running`},
		"due":          {`Index Scan using recurring_due on recurring \w+\s+Index Cond: \(due_at <=`},
		"unfinished":   {`recurring_fires_enqueued`, `ready_pkey on ready h\s+Index Cond: \(job_id =`, `running_pkey on running h\w*\s+Index Cond`, `scheduled_pkey on scheduled h\w*\s+Index Cond`},
		"delete":       {`Index Scan using ready_pkey`, `Index Scan using running_pkey`, `Index Scan using scheduled_pkey`, `Index Scan using failed_pkey`},
		"expire, rows": {`Index Scan using history_finished on history\w*\s+Index Cond: \(\(state = \$1\) AND \(kind = \$2\) AND \(id > \$3\)\)`},
	} {
		plan := explain(t, e.db, store.Writings(e.db)[name])
		for _, part := range want {
			if !regexp.MustCompile(part).MatchString(plan) {
				t.Errorf("%s: want %s in\n%s", name, part, plan)
			}
		}
	}
}
