package store_test

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// failMany puts n failed jobs into groups: g of kinds k0… with as many fingerprints.
func failMany(t *testing.T, db *store.DB, n, groups int) {
	t.Helper()
	execAll(t, db, `insert into tekrar.jobs (id, queue, kind, args) select g, 'default', 'k' || g % `+strconv.Itoa(groups)+`, '{}' from generate_series(1, `+strconv.Itoa(n)+`) g`,
		`insert into tekrar.history (job_id, attempt, state, queue, kind) select id, 1, 5, queue, kind from tekrar.jobs`,
		`insert into tekrar.failed (job_id, queue, kind, fingerprint, attempt, outcome, failed_at, error_type, error_line)
		 select g, 'default', 'k' || g % `+strconv.Itoa(groups)+`, 100 + g % `+strconv.Itoa(groups)+`, 1 + g % 5, 3 + g % 2, now() - g * interval '1 second', '*url.Error', 'dial ' || g
		 from generate_series(1, `+strconv.Itoa(n)+`) g`)
}

func TestFailureGroups(t *testing.T) {
	ctx, db := readSetup(t)
	if f, err := db.FailureGroups(ctx, false, 10); err != nil || len(f.Groups) != 0 || f.JobsTotal != 0 {
		t.Fatalf("empty: %+v, %v", f, err)
	}
	failMany(t, db, 70, 7)
	execAll(t, db, `update tekrar.failed set fingerprint = -5 where job_id in (7, 14)`,
		`update tekrar.failed set failed_at = now() - interval '30 hours' where job_id = 21`)
	f, err := db.FailureGroups(ctx, false, 3)
	if err != nil || len(f.Groups) != 3 || f.GroupsTotal != 8 || f.JobsTotal != 70 {
		t.Fatalf("%+v, %v", f, err)
	}
	g := f.Groups[0]
	sum := int64(0)
	for _, n := range g.Hours {
		sum += n
	}
	if g.Kind != "k1" || g.Fingerprint != 101 || g.N != 10 || g.ErrorLine != "dial 1" || g.Exhausted != 5 || g.Permanent != 5 ||
		g.Attempt1 != 2 || g.Attempt2 != 2 || g.Attempt3 != 2 || sum != 10 || g.Hours[23] != 10 ||
		g.Last.Sub(g.First).Round(time.Second) != 63*time.Second {
		t.Errorf("%+v", g)
	}
	all, err := db.FailureGroups(ctx, false, 100)
	if err != nil || all.Groups[7].N != 2 || all.Groups[7].Fingerprint != -5 || all.Groups[6].N != 8 || all.Groups[6].Hours[23] != 7 {
		t.Errorf("%+v, %v", all.Groups, err)
	}
	for _, g := range all.Groups { // the link opens exactly the group
		f := store.JobFilter{State: store.Failed, Kind: g.Kind, Group: &g.Fingerprint, Limit: 3}
		rows := walk(t, db, f)
		c, err := db.CountJobs(ctx, f)
		one, err2 := db.FailureGroup(ctx, g.Kind, g.Fingerprint)
		if int64(len(rows)) != g.N || c.N != g.N || c.AtLeast || one.N != g.N || one.ErrorLine != g.ErrorLine || err != nil || err2 != nil {
			t.Errorf("%s %d: %d rows, count %v, one %+v, group %d, %v, %v", g.Kind, g.Fingerprint, len(rows), c, one, g.N, err, err2)
		}
		if !slices.IsSortedFunc(rows, func(a, b store.JobRow) int { return b.Since.Compare(a.Since) }) {
			t.Error("not newest first")
		}
	}
	if _, err := db.FailureGroup(ctx, "k1", 9); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func TestMutedGroupsAreKeptApart(t *testing.T) {
	ctx, db := readSetup(t)
	failMany(t, db, 30, 3)
	for range 2 {
		if err := db.MuteFailures(ctx, "ann", "k1", 101); err != nil {
			t.Fatal(err)
		}
	}
	f, err := db.FailureGroups(ctx, false, 10)
	muted, err2 := db.FailureGroups(ctx, true, 10)
	n, err3 := db.MutedFailures(ctx)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	if f.JobsTotal != 20 || len(f.Groups) != 2 || muted.JobsTotal != 10 || len(muted.Groups) != 1 || muted.Groups[0].MutedBy != "ann" || n != 10 {
		t.Errorf("%+v; muted %+v, %d", f, muted, n)
	}
	if err := db.UnmuteFailures(ctx, "bob", "k1", 101); err != nil {
		t.Fatal(err)
	}
	if n, err := db.MutedFailures(ctx); n != 0 || err != nil {
		t.Error(n, err)
	}
	rows, _, err := db.AuditRows(ctx, store.AuditFilter{})
	if err != nil || len(rows) != 2 || rows[0].Actor != "bob" || rows[1].Action != "mute failures" {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestGroupNames(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, -1, 1 << 62, -1 << 63} {
		if got, err := store.ParseGroup(store.GroupName(n)); got != n || err != nil {
			t.Error(n, got, err)
		}
	}
	for _, bad := range []string{"", "1", "000000000000000g", "00000000000000001", " 000000000000001", "+000000000000001"} {
		if n, err := store.ParseGroup(bad); err == nil {
			t.Errorf("%q: %d", bad, n)
		}
	}
}

// Groups come from what is kept of each, two looks into the index a group shown, and
// never from the jobs; a group's list is a range of its index.
func TestFailureGroupPlans_SCL01(t *testing.T) {
	t.Parallel()
	db := storetest.Fresh(t) // it leaves bloat
	failMany(t, db, 20_000, 50)
	if err := db.FoldCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	ends := `Limit\s+->  Index Only Scan using failed_group on failed\s+Index Cond: \(\(kind = \S+\) AND \(fingerprint = \S+\)\)[\s\S]*` +
		`Limit\s+->  Index Scan Backward using failed_group on failed \w+\s+Index Cond: \(\(kind = \S+\) AND \(fingerprint = \S+\)\)`
	for name, want := range map[string]string{
		"failure groups": ends + `[\s\S]*failure_times_pkey on failure_times\s+Index Cond: \(\(kind = s.kind\) AND \(fingerprint = s.fingerprint\) AND \(at >=`,
		"one group":      `failure_groups_pkey on failure_groups[\s\S]*` + ends,
		"failure group":  `Backward using failed_group on failed f\s+Index Cond: \(\(kind = \$2\) AND \(fingerprint = \$6\) AND \(ROW\(failed_at, job_id\) <`,
		"muted failures": `failure_groups_pkey on failure_groups`,
	} {
		plan := explain(t, db, store.Readings(db)[name])
		if !regexp.MustCompile(want).MatchString(plan) {
			t.Errorf("%s: want %s in\n%s", name, want, plan)
		}
	}
}
