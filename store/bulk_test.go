package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/store"
)

func query(t *testing.T, text string) store.Query {
	t.Helper()
	q, err := store.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// drain works an operation off.
func drain(t *testing.T, db *store.DB, id int64) (b store.Bulk) {
	t.Helper()
	for range 1000 {
		step, err := db.RunBulk(t.Context(), "me", id)
		if err != nil {
			t.Fatal(err)
		}
		if b = step.Bulk; b.State != store.BulkRunning {
			return b
		}
	}
	t.Fatal("the operation never ends")
	return b
}

// LST-03: an action on all matching jobs takes what the list holds, and nothing else.
func TestBulkTakesWhatTheListHolds_LST03(t *testing.T) {
	ctx, db := readSetup(t)
	for _, state := range []store.State{store.Failed, store.Scheduled, store.Succeeded} {
		put(t, db, repeat(1203, past{queue: "a", states: way(state)})...)
		other := put(t, db, repeat(40, past{queue: "b", states: way(state)})...)
		f := store.JobFilter{State: state, Queue: "a"}
		n, err := db.CountWithin(ctx, f, time.Now(), time.Minute)
		if err != nil || n != (store.Count{N: 1203}) {
			t.Fatal(n, err)
		}
		id, err := db.BeginBulk(ctx, "ann", store.NewBulk{Action: "delete", Filter: f, SeenAt: time.Now().Add(time.Hour), Expected: n.N})
		if err != nil {
			t.Fatal(err)
		}
		b := drain(t, db, id)
		if b.State != store.BulkDone || b.Done != 1203 || b.Skipped != 0 || b.Actor != "ann" || b.FinishedAt == nil {
			t.Errorf("%s: %+v", state, b)
		}
		left := jobIDs(walk(t, db, store.JobFilter{State: state}))
		slices.Sort(left)
		if d := cmp.Diff(other, left); d != "" {
			t.Errorf("%s: the other queue (-want +got):\n%s", state, d)
		}
		if err := db.Check(ctx); err != nil {
			t.Error(err)
		}
		// Undo restores exactly those; one that was restored by hand since stays.
		first := walk(t, db, store.JobFilter{State: store.Deleted, Limit: 500})[0]
		if _, err := db.Restore(ctx, "bob", []store.Target{{ID: first.ID, Expected: store.Deleted}}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Delete(ctx, "bob", []store.Target{{ID: first.ID, Expected: store.Enqueued}}); err != nil {
			t.Fatal(err)
		}
		undo, err := db.BeginUndo(ctx, "ann", id)
		if err != nil {
			t.Fatal(err)
		}
		if b := drain(t, db, undo); b.Done != 1202 || b.UndoOf == nil || *b.UndoOf != id {
			t.Errorf("%s: undo %+v", state, b)
		}
		if left := walk(t, db, store.JobFilter{State: store.Deleted}); len(left) != 1 || left[0].ID != first.ID {
			t.Errorf("%s: %d still deleted", state, len(left))
		}
		if _, err := db.BeginUndo(ctx, "ann", id); !errors.Is(err, store.ErrStateChanged) {
			t.Errorf("undone twice: %v", err)
		}
		execAll(t, db, `truncate tekrar.jobs, tekrar.history, tekrar.ready, tekrar.failed, tekrar.scheduled, tekrar.stats`)
	}
}

// Jobs that came after the count was shown, and jobs that moved meanwhile, stay.
func TestBulkLeavesLaterJobsAlone(t *testing.T) {
	ctx, db := readSetup(t)
	old := put(t, db, repeat(3, past{states: way(store.Failed)})...)
	late := put(t, db, past{states: way(store.Failed), at: someTime.Add(time.Hour)})
	f := store.JobFilter{State: store.Failed, Query: query(t, "error:refused")}
	if n, err := db.CountWithin(ctx, f, someTime.Add(time.Minute), time.Minute); err != nil || n.N != 3 {
		t.Errorf("counted %v, %v", n, err)
	}
	id, err := db.BeginBulk(ctx, "ann", store.NewBulk{Action: "requeue", Fresh: true, Filter: f, SeenAt: someTime.Add(time.Minute), Expected: 3})
	if err != nil {
		t.Fatal(err)
	}
	if b := drain(t, db, id); b.Done != 3 {
		t.Errorf("%+v", b)
	}
	if got := jobIDs(walk(t, db, store.JobFilter{State: store.Failed})); !slices.Equal(got, late) {
		t.Errorf("failed: %v, want %v", got, late)
	}
	d, err := db.Job(ctx, old[0], 0, 0)
	if err != nil || d.History[0].Actor != "ann" || d.State != store.Enqueued {
		t.Errorf("%+v, %v", d.History, err)
	}
	audit, _, err := db.AuditRows(ctx, store.AuditFilter{Action: "requeue all"})
	if err != nil || len(audit) != 1 || audit[0].Bulk == nil || *audit[0].Done != 3 || audit[0].CanUndo {
		t.Errorf("%+v, %v", audit, err)
	}
	b, err := db.Bulk(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.ParseFilter(b.Filter); err != nil || got.JSON() != f.JSON() || got.Query.String() != "error:refused" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBulkHasOneRunnerAndStops(t *testing.T) {
	ctx, db := readSetup(t)
	put(t, db, repeat(1100, past{states: way(store.Failed)})...)
	id, err := db.BeginBulk(ctx, "ann", store.NewBulk{Action: "delete", Filter: store.JobFilter{State: store.Failed}, SeenAt: time.Now().Add(time.Hour), Expected: 1100})
	if err != nil {
		t.Fatal(err)
	}
	step, err := db.RunBulk(ctx, "one", id)
	if err != nil || len(step.Moved) != 500 || step.Bulk.Done != 500 {
		t.Fatalf("%+v, %v", step.Bulk, err)
	}
	if _, err := db.RunBulk(ctx, "two", id); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("a second runner: %v", err)
	}
	if err := db.StopBulk(ctx, "bob", id); err != nil {
		t.Fatal(err)
	}
	if step, err = db.RunBulk(ctx, "one", id); err != nil || step.Bulk.State != store.BulkStopped || step.Bulk.StoppedBy != "bob" || step.Bulk.Done != 500 {
		t.Errorf("stopped: %+v, %v", step.Bulk, err)
	}
	if err := db.StopBulk(ctx, "bob", id); !errors.Is(err, store.ErrStateChanged) {
		t.Errorf("stopped twice: %v", err)
	}
	if err := db.ContinueBulk(ctx, "bob", id); err != nil {
		t.Fatal(err)
	}
	// The process dies; after a while it is found idle, and another goes on.
	if step, err = db.RunBulk(ctx, "one", id); err != nil || step.Bulk.Done != 1000 {
		t.Fatalf("%+v, %v", step.Bulk, err)
	}
	if idle, err := db.IdleBulks(ctx); err != nil || len(idle) != 0 {
		t.Errorf("idle %v, %v", idle, err)
	}
	execAll(t, db, `update tekrar.bulk_operations set beat_at = now() - interval '1 minute'`)
	if idle, err := db.IdleBulks(ctx); err != nil || !slices.Equal(idle, []int64{id}) {
		t.Errorf("idle %v, %v", idle, err)
	}
	if b := drain(t, db, id); b.Done != 1100 || b.State != store.BulkDone {
		t.Errorf("%+v", b)
	}
	if err := db.PruneBulks(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Bulk(ctx, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("pruned: %v", err)
	}
}
