package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tekrar/tekrar/store"
)

// LST-01: a page boundary neither drops nor repeats rows of one instant.
func TestJobsOfOneInstantAreWalkedOnce_LST01(t *testing.T) {
	for _, state := range store.States {
		t.Run(state.String(), func(t *testing.T) {
			_, db := readSetup(t)
			var jobs []past
			for i := range 60 {
				jobs = append(jobs, past{states: way(state), kind: "k" + string(rune('a'+i%3)),
					queue: "q" + string(rune('a'+i%4)), priority: i % 5})
			}
			want := put(t, db, jobs...)
			if state == store.Failed || state == store.Succeeded || state == store.Deleted {
				slices.Reverse(want)
			}
			got := walk(t, db, store.JobFilter{State: state, Limit: 25})
			if d := cmp.Diff(want, jobIDs(got)); d != "" {
				t.Errorf("walk in pages of 25 (-want +got):\n%s", d)
			}
			for _, r := range got {
				if r.State != state {
					t.Errorf("job %d is %s", r.ID, r.State)
				}
			}
		})
	}
}

func TestJobsOrder(t *testing.T) {
	for _, state := range []store.State{store.Enqueued, store.Scheduled, store.Processing, store.Failed} {
		t.Run(state.String(), func(t *testing.T) {
			_, db := readSetup(t)
			var jobs []past
			for i := range 9 { // times fall as ids grow; lanes differ
				jobs = append(jobs, past{states: way(state), priority: i % 3, at: someTime.Add(-time.Duration(i) * time.Microsecond)})
			}
			want := put(t, db, jobs...)
			if state != store.Failed {
				slices.Reverse(want) // oldest first
			}
			if d := cmp.Diff(want, jobIDs(walk(t, db, store.JobFilter{State: state, Limit: 2}))); d != "" {
				t.Errorf("order (-want +got):\n%s", d)
			}
		})
	}
}

// LST-10, LST-13, LST-18: filters match exactly and literally, and a count equals its list.
func TestFiltersAreLiteral_LST10_LST13_LST18(t *testing.T) {
	names := []string{"o'neil", "50%", "50x", "_", `\`, `"`, "a/b", "a b", "✓😀", "CamelCase", "camelcase",
		"?x=1", "tekrar.jobs", "$1", strings.Repeat("n", 200)}
	for _, state := range store.States {
		t.Run(state.String(), func(t *testing.T) {
			ctx, db := readSetup(t)
			byQueue, byKind := map[string]int64{}, map[string]int64{}
			for _, n := range names {
				byQueue[n] = put(t, db, past{queue: n, states: way(state)})[0]
				byKind[n] = put(t, db, past{kind: n, states: way(state)})[0]
			}
			want := func(f store.JobFilter, all ...int64) {
				t.Helper()
				if got := jobIDs(walk(t, db, f)); !slices.Equal(got, all) {
					t.Errorf("queue %q kind %q: jobs %v, want %v", f.Queue, f.Kind, got, all)
				}
				if c, err := db.CountJobs(ctx, f); err != nil || c != (store.Count{N: int64(len(all))}) {
					t.Errorf("queue %q kind %q: count %v, %v, want %d", f.Queue, f.Kind, c, err, len(all))
				}
			}
			for _, n := range names {
				want(store.JobFilter{State: state, Queue: n}, byQueue[n])
				want(store.JobFilter{State: state, Kind: n}, byKind[n])
				want(store.JobFilter{State: state, Kind: n, Queue: "default"}, byKind[n])
				want(store.JobFilter{State: state, Kind: n, Queue: n})
			}
			for _, n := range []string{"%", "nobody", "a\x00b", "\xff", strings.Repeat("z", 10_000)} {
				want(store.JobFilter{State: state, Queue: n})
				want(store.JobFilter{State: state, Kind: n})
			}
			all, err := db.CountJobs(ctx, store.JobFilter{State: state})
			if err != nil || all.N != int64(2*len(names)) {
				t.Errorf("unfiltered count %v, %v", all, err)
			}
			counts, err := db.Counts(ctx)
			if err != nil || counts[state] != all || len(counts) != len(store.States) {
				t.Errorf("Counts %v, %v", counts, err)
			}
			if got := walk(t, db, store.JobFilter{State: state, Limit: 7}); len(got) != int(all.N) {
				t.Errorf("list of %d, count %d", len(got), all.N)
			}
		})
	}
}

func TestJobsByCause(t *testing.T) {
	ctx, db := readSetup(t)
	all := put(t, db, repeat(4, past{states: way(store.Scheduled)})...)
	execAll(t, db, `update tekrar.scheduled set cause = 2, run_at = run_at + interval '1 minute' where job_id % 2 = 0`)
	f := store.JobFilter{State: store.Scheduled, Cause: store.CauseRetry}
	got := walk(t, db, f)
	n, next, err := db.Retrying(ctx)
	if err != nil || n != int64(len(got)) || n != 2 || !next.Equal(someTime.Add(time.Minute)) {
		t.Errorf("Retrying: %d, %v, %v; the list has %d of %v", n, next, err, len(got), all)
	}
	if c, err := db.CountJobs(ctx, f); err != nil || c.N != n {
		t.Errorf("CountJobs: %v, %v", c, err)
	}
	if _, _, err := db.Jobs(ctx, store.JobFilter{State: store.Failed, Cause: store.CauseRetry}); err == nil {
		t.Error("a cause of failed jobs was accepted")
	}
}

func TestCursor_LST11(t *testing.T) {
	ctx, db := readSetup(t)
	put(t, db, repeat(3, past{states: way(store.Failed)})...)
	_, next, err := db.Jobs(ctx, store.JobFilter{State: store.Failed, Limit: 1})
	if err != nil || next.IsZero() {
		t.Fatal(next, err)
	}
	for _, bad := range []string{"0", "-1", "abc", "999", strings.Repeat("9", 20), "' or 1=1", "\x00",
		next.String() + "A", next.String()[1:], strings.Repeat("_", 23), strings.Repeat("A", 23), "BX" + next.String()[2:]} {
		if c, err := store.ParseCursor(bad); !errors.Is(err, store.ErrBadCursor) {
			// Whatever parses must at least be answered.
			if _, _, err := db.Jobs(ctx, store.JobFilter{State: store.Failed, After: c}); err != nil && !errors.Is(err, store.ErrBadCursor) {
				t.Errorf("cursor %q: %v", bad, err)
			}
		}
	}
	if _, _, err := db.Jobs(ctx, store.JobFilter{State: store.Succeeded, After: next}); !errors.Is(err, store.ErrBadCursor) {
		t.Errorf("cursor of another state: %v", err)
	}
	if c, err := store.ParseCursor(""); err != nil || !c.IsZero() || c.String() != "" {
		t.Errorf("empty cursor: %v, %v", c, err)
	}
	// The row it was taken from may go; the walk goes on behind it.
	execAll(t, db, `delete from tekrar.failed where job_id = 3`)
	rows, _, err := db.Jobs(ctx, store.JobFilter{State: store.Failed, After: next, Limit: 1_000_000})
	if err != nil || !slices.Equal(jobIDs(rows), []int64{2, 1}) {
		t.Errorf("after a row that is gone: %v, %v", jobIDs(rows), err)
	}
	if _, _, err := db.Jobs(ctx, store.JobFilter{State: 9}); err == nil {
		t.Error("an unknown state was accepted")
	}
}
