package store_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// SCL-01: whatever a page reads, it walks neither all jobs nor all history:
// with the settings of our connections on empty and full tables, and on full
// ones also without them.
func TestPagesNeverWalkWholeTables_SCL01(t *testing.T) {
	t.Parallel()
	db := storetest.Fresh(t) // it leaves bloat
	looked := func(when string, settings ...string) {
		t.Helper()
		for name, r := range store.Readings(db) {
			if plan := explain(t, db, r, settings...); wholeTable.MatchString(plan) {
				t.Errorf("%s, %s:\n%s", name, when, plan)
			}
		}
	}
	looked("empty")
	fill(t, db, 20_000)
	looked("full, never analyzed")
	storetest.Exec(t, db, "analyze")
	looked("full")
	looked("full, without settings", "plan_cache_mode = force_custom_plan",
		"enable_seqscan = on", "enable_hashjoin = on", "enable_mergejoin = on", "enable_bitmapscan = on")
}

var wholeTable = regexp.MustCompile(`Seq Scan on (jobs|history)|(Hash|Merge) \w*Join|Hash Anti|Parallel`)

// Lists read a page's worth from their index, not a sorted table.
func TestListsFollowTheirIndex_SCL01(t *testing.T) {
	t.Parallel()
	db := storetest.Fresh(t) // it leaves bloat
	fill(t, db, 20_000)
	for name, want := range map[string]string{
		"enqueued":         `ready_lane on ready r\w*\s+Index Cond: \(\(queue = l\w*.queue\) AND \(priority = l\w*.priority\) AND \(ready_at >= l\w*.after\) AND \(ready_at >= \$3\)\)`,
		"enqueued, known":  `ready_lane on ready r\w*\s+Index Cond: \(\(queue = k\w*.queue\) AND \(priority = k\w*.priority\) AND \(ready_at >= k\w*.after\) AND \(ready_at >= \$3\)\)`,
		"enqueued count":   `ready_lane on ready r\w*\s+Index Cond: \(\(queue = k\w*.queue\) AND \(priority = k\w*.priority\) AND \(ready_at >= k\w*.after\)\)`,
		"queues, known":    `ready_lane on ready r\w*\s+Index Cond: \(\(queue = l\w*.queue\) AND \(priority = l\w*.priority\) AND \(ready_at >= l\w*.after\)\)`,
		"scheduled":        `scheduled_due on scheduled s\s+Index Cond: \(ROW\(run_at, job_id\) >`,
		"failed":           `Backward using failed_newest on failed f\s+Index Cond: \(ROW\(failed_at, job_id\) <`,
		"scheduled, kind":  `scheduled_kind on scheduled s\s+Index Cond: \(\(kind = \$2\) AND \(ROW\(run_at, job_id\) >`,
		"scheduled, queue": `scheduled_kind on scheduled s\s+Index Cond: \(\(kind = \w+.kind\) AND \(ROW\(run_at, job_id\) >`,
		"retrying":         `scheduled_retry on scheduled s\s+Index Cond: \(ROW\(run_at, job_id\) >`,
		"failed, kind":     `Backward using failed_kind on failed f\s+Index Cond: \(\(kind = \$2\) AND \(ROW\(failed_at, job_id\) <`,
		"failed, queue":    `Backward using failed_queue on failed f\s+Index Cond: \(\(queue = \$1\) AND \(ROW\(failed_at, job_id\) <`,
		"awaiting":         `awaiting_oldest on awaiting a\s+Index Cond: \(ROW\(since, job_id\) >`,
		"awaiting sweep":   `awaiting_parent on awaiting\w*\s+Index Cond: \(ROW\(parent_id, job_id\) >`,
		"family":           `jobs_parent on jobs.*\s+Index Cond: \(parent_id =`,
		"finished":         `Backward using history_finished on history h\w*\s+Index Cond: \(\(state = \$1\) AND \(kind = \w+.kind\) AND \(id < \$4\)\)`,
		"finished, rows":   `history_pkey on history`,
		"job history":      `Backward using history_pkey on history\s+Index Cond: \(\(job_id = \$1\) AND \(id < \$2\)\)`,
	} {
		plan := explain(t, db, store.Readings(db)[name])
		if !regexp.MustCompile(want).MatchString(plan) {
			t.Errorf("%s: want %s in\n%s", name, want, plan)
		}
	}
}

// Counts of scheduled and failed jobs look at none of them; what else is asked of these
// tables is one place of an index.
func TestCountsDoNotWalkWhatTheyCount(t *testing.T) {
	t.Parallel()
	db := storetest.Fresh(t) // it leaves bloat
	looked := func(when string) {
		t.Helper()
		for name, allowed := range map[string]string{
			"all counts":          `none`,
			"scheduled count":     `none`,
			"failed count, kind":  `none`,
			"failed count, queue": `Limit\s+->  Result\s+One-Time Filter: .*\s+->  Index Only Scan using failed_queue on failed\s+Index Cond: \(queue = \$1\)`,
			"retrying count":      `Limit\s+->  Index (Only )?Scan using scheduled_retry on scheduled\b`,
			"pending":             `Limit\s+->  Index (Only )?Scan using scheduled_retry on scheduled\b`,
			"queues":              `Limit\s+->  Index Only Scan Backward using failed_queue on failed\b`,
		} {
			plan := explain(t, db, store.Readings(db)[name])
			if rest := regexp.MustCompile(allowed).ReplaceAllString(plan, ""); regexp.MustCompile(` on (scheduled|failed)\b`).MatchString(rest) {
				t.Errorf("%s, %s:\n%s", name, when, plan)
			}
		}
	}
	looked("empty")
	fill(t, db, 20_000)
	looked("full, never analyzed")
	storetest.Exec(t, db, "analyze")
	looked("full")
}

// fill gives n succeeded jobs of 5 kinds and 3 queues, and an eighth of that in each hot table.
func fill(t *testing.T, db *store.DB, n int) {
	t.Helper()
	texts := []string{`insert into tekrar.jobs (id, queue, kind, args)
		select g, 'q' || g %% 3, 'k' || g %% 5, '{}' from generate_series(1, %d * 3 / 2) g`}
	for i, state := range []string{"2", "3", "case when g % 20 = 0 then 6 else 4 end"} {
		texts = append(texts, fmt.Sprintf(`insert into tekrar.history (job_id, attempt, state, queue, kind)
			select g, least(%d, 1), %s, 'q' || g %% 3, 'k' || g %% 5 from generate_series(1, %d) g`, i, state, n))
	}
	for i, into := range []string{"ready (job_id, queue, kind, ready_at)", "scheduled (job_id, queue, kind, run_at)", "failed (job_id, queue, kind, failed_at)",
		"awaiting (job_id, queue, kind, since, parent_id, condition)"} {
		texts = append(texts, fmt.Sprintf(`insert into tekrar.%s
			select g, 'q' || g %% 3, 'k' || g %% 5, now() + g * interval '1 ms'%s from generate_series(%d, %d) g`,
			into, map[bool]string{true: ", g - 10000, 1"}[i == 3], n+1+i*n/8, n+(i+1)*n/8))
	}
	texts[0] = fmt.Sprintf(texts[0], n)
	execAll(t, db, texts...)
}

// explain gives the plan of a prepared statement, as the engine's connections get it.
func explain(t *testing.T, db *store.DB, r store.Reading, settings ...string) string {
	t.Helper()
	tx, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	run := "explain (costs off) execute reading"
	if r.Params != "" {
		run += "(" + r.Params + ")"
	}
	for _, s := range settings {
		if _, err := tx.Exec("set local " + s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec("prepare reading as " + r.Text); err != nil {
		t.Fatalf("%v in\n%s", err, r.Text)
	}
	var lines []string
	if err := tx.Select(&lines, run); err != nil {
		t.Fatalf("%v in\n%s\n%s", err, run, r.Text)
	}
	if _, err := tx.Exec("deallocate reading"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
