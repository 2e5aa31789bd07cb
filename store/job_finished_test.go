package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A finished list shows each job once, at its last row, and only while it is there.
func TestFinishedJobsAreListedAtTheirLastRow(t *testing.T) {
	ctx, db := readSetup(t)
	const e, p, s, d, f = store.Enqueued, store.Processing, store.Succeeded, store.Deleted, store.Failed
	jobs := put(t, db,
		past{states: []store.State{e, p, s}},
		past{states: []store.State{e, p, s, e}},             // requeued
		past{states: []store.State{e, p, s, e, p}},          // runs again
		past{states: []store.State{e, p, s, e, p, s}},       // succeeded twice
		past{states: []store.State{e, p, s, e, p, f}},       // failed since
		past{states: []store.State{e, p, s, d}},             // deleted
		past{states: []store.State{e, d, e, p, s}},          // restored, succeeded
		past{states: []store.State{e, d}, kind: "z"},        // other kind
		past{states: []store.State{e, p, s, store.Late}},    // a late result after it
		past{states: []store.State{e, p, s}, kind: "other"}, // other kind
	)
	for state, want := range map[store.State][]int64{
		s: {jobs[9], jobs[8], jobs[6], jobs[3], jobs[0]},
		d: {jobs[7], jobs[5]},
	} {
		for _, limit := range []int{1, 2, 50} {
			if got := jobIDs(walk(t, db, store.JobFilter{State: state, Limit: limit})); !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: %v, want %v", state, limit, got, want)
			}
		}
		counts, err := db.Counts(ctx)
		if err != nil || counts[state] != (store.Count{N: int64(len(want))}) {
			t.Errorf("%s: counted %v, %v", state, counts[state], err)
		}
	}
	rows, _, err := db.Jobs(ctx, store.JobFilter{State: s, Limit: 4})
	if err != nil || rows[3].Attempt != 2 {
		t.Errorf("succeeded twice: %+v, %v", rows[3], err)
	}
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
}

// Beyond so many rows that stand elsewhere by now, a page says that it goes on.
func TestFinishedPageIsBounded(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), storetest.Fresh(t) // it leaves bloat
	old := put(t, db, past{states: way(store.Succeeded)})
	execAll(t, db, `with j as (
			insert into tekrar.jobs (queue, kind, args) select 'default', 'k', '{}' from generate_series(1, 26000) returning id
		), st as (
			insert into tekrar.history (job_id, attempt, state, queue, kind, actor)
			select id, least(s.n, 1), s.state, 'default', 'k', 'someone'
			from j cross join (values (0, 2), (1, 3), (2, 4), (3, 2)) s (n, state) order by s.n, id
		)
		insert into tekrar.ready (job_id, attempt, queue, kind) select id, 1, 'default', 'k' from j`,
		`insert into tekrar.stats values (date_trunc('minute', now()), 1, 26000, 0, 0, 1, 1, 0, 'default', 'k')`)
	rows, next, err := db.Jobs(ctx, store.JobFilter{State: store.Succeeded})
	if err != nil || len(rows) != 0 || next.IsZero() {
		t.Errorf("first page: %d rows, next %q, %v", len(rows), next, err)
	}
	if got := jobIDs(walk(t, db, store.JobFilter{State: store.Succeeded})); !slices.Equal(got, old) {
		t.Errorf("walk: %v, want %v", got, old)
	}
	if c, err := db.CountJobs(ctx, store.JobFilter{State: store.Succeeded}); err != nil || c != (store.Count{AtLeast: true}) {
		t.Errorf("count: %v, %v", c, err)
	}
	if c, err := db.Counts(ctx); err != nil || c[store.Enqueued] != (store.Count{N: 10_000, AtLeast: true}) {
		t.Errorf("enqueued: %v, %v", c[store.Enqueued], err)
	}
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
}

// Finished jobs are counted to a thousand, and no more is said of them.
func TestFinishedJobsAreCountedToAThousand(t *testing.T) {
	ctx, db := readSetup(t)
	put(t, db, repeat(1000, past{states: way(store.Succeeded)})...)
	for _, want := range []store.Count{{N: 1000}, {N: 1000, AtLeast: true}} {
		counts, err := db.Counts(ctx)
		c, err2 := db.CountJobs(ctx, store.JobFilter{State: store.Succeeded, Kind: "k"})
		all, err3 := db.CountJobs(ctx, store.JobFilter{State: store.Succeeded})
		if errors.Join(err, err2, err3) != nil || counts[store.Succeeded] != want || c != want || all != want {
			t.Errorf("%v, %v, %v, want %v; %v", counts[store.Succeeded], c, all, want, errors.Join(err, err2, err3))
		}
		put(t, db, past{states: way(store.Succeeded)})
	}
}
