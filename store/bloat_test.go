package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// seen is what pages ask about waiting jobs.
type seen struct {
	Counts   map[store.State]store.Count
	Queues   []store.QueueRow
	Servers  []store.ServerRow
	Enqueued []store.JobRow
	Counted  store.Count
	OfQueue  store.Count
}

func look(t *testing.T, db *store.DB) (s seen) {
	t.Helper()
	ctx := t.Context()
	var errs [6]error
	s.Counts, errs[0] = db.Counts(ctx)
	s.Queues, errs[1] = db.Queues(ctx)
	s.Servers, errs[2] = db.Servers(ctx)
	s.Enqueued, _, errs[3] = db.Jobs(ctx, store.JobFilter{State: store.Enqueued})
	s.Counted, errs[4] = db.CountJobs(ctx, store.JobFilter{State: store.Enqueued, Kind: "k"})
	s.OfQueue, errs[5] = db.CountJobs(ctx, store.JobFilter{State: store.Enqueued, Queue: "mail"})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// While a long transaction keeps claimed rows from being removed, pages find the jobs
// that wait without passing all of those rows each time, and say the same.
func TestPagesPassDeadRowsOnce(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), storetest.Fresh(t) // it leaves bloat
	release, err := db.Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	const dead = 20_000
	storetest.Exec(t, db,
		`insert into tekrar.ready (job_id, queue, kind, ready_at) select -g, 'default', 'k', '2026-02-01' from generate_series(1, 20000) g`,
		`delete from tekrar.ready`,
		`do $$ begin perform pg_stat_force_next_flush(); exception when undefined_function then null; end $$`)
	jobs := put(t, db, past{states: way(store.Enqueued)}, past{states: way(store.Enqueued), queue: "mail"}, past{states: way(store.Enqueued), kind: "z"})
	execAll(t, db, `update tekrar.ready set priority = 3 where job_id = (select max(job_id) from tekrar.ready)`)
	want := look(t, db)
	walked, err := store.EnqueuedBlocks(ctx, db)
	if err != nil || walked < 100 {
		t.Fatalf("%d blocks, %v: there is nothing to pass", walked, err)
	}

	store.Economize(db, dead)
	for deadline := time.Now().Add(30 * time.Second); !store.Economizes(db); {
		if _, err := db.Counts(ctx); err != nil || time.Now().After(deadline) {
			t.Fatalf("Postgres does not report the dead rows: %v", err)
		}
	}
	if d := cmp.Diff(want, look(t, db), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Now" }, cmp.Ignore())); d != "" {
		t.Errorf("it says something else (-walked +remembered):\n%s", d)
	}
	if blocks, err := store.EnqueuedBlocks(ctx, db); err != nil || blocks*3 > walked {
		t.Errorf("%d blocks instead of %d, %v", blocks, walked, err)
	}

	// What commits with an earlier time, a lane that nobody knew and how many run come
	// with the next look.
	execAll(t, db, `update tekrar.ready set ready_at = ready_at - interval '1 hour' where job_id = (select min(job_id) from tekrar.ready)`)
	late := put(t, db, past{states: way(store.Enqueued), queue: "new"})
	put(t, db, past{states: way(store.Processing)})
	got := look(t, db)
	if len(got.Enqueued) != 2 || got.Counts[store.Enqueued].N != 2 || got.Counts[store.Processing].N != 0 || got.Queues[0].Running != 0 {
		t.Errorf("it remembers nothing: %+v", got)
	}
	store.LookAgain(db)
	got = look(t, db)
	if ids := jobIDs(got.Enqueued); !slices.Equal(slices.Sorted(slices.Values(ids)), append(jobs, late...)) || ids[0] != jobs[0] {
		t.Errorf("enqueued: %v, want %v and %v", ids, jobs, late)
	}
	if n := got.Counts[store.Enqueued].N; n != 4 || got.Counts[store.Processing].N != 1 || len(got.Queues) != 3 || got.Queues[0].Running != 1 || got.Queues[2].Name != "new" {
		t.Errorf("counted %v, queues %+v", got.Counts, got.Queues)
	}

	// A lane that is empty at a look is still known when a job comes.
	execAll(t, db, `delete from tekrar.ready where queue = 'mail'`)
	store.LookAgain(db)
	before := look(t, db).OfQueue.N
	put(t, db, past{states: way(store.Enqueued), queue: "mail", at: time.Now()})
	if after := look(t, db).OfQueue.N; before != 0 || after != 1 {
		t.Errorf("counted %d and then %d, want 0 and 1", before, after)
	}
}
