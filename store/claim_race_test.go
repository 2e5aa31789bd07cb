package store_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Claims of two processes take different jobs, and none waits for the other:
// the second returns while the first has not committed.
func TestClaimAgainstClaimSkips(t *testing.T) {
	r := newRace(t, "")
	r.enqueue(make([]store.NewJob, 20)...)
	two := r.register("two")
	tx := r.hold()
	mine, err := store.ClaimIn(r.ctx, r.first, tx, r.server, "default", 10)
	if err != nil || len(mine) != 10 {
		t.Fatal(len(mine), err)
	}
	theirs := must(r, apart(func() ([]store.Claimed, error) {
		return r.second.Claim(r.ctx, two, lanes("default"), []string{"k"}, 20)
	}))
	r.commit(tx)
	seen := map[int64]bool{}
	for _, c := range append(mine, theirs...) {
		if seen[c.ID] {
			t.Errorf("job %d was claimed twice", c.ID)
		}
		seen[c.ID] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d claimed, want 20", len(seen))
	}
	r.check()
}

// A claim that is rolled back gives its jobs to the next one, attempt unchanged.
func TestAClaimThatIsRolledBackLeavesNothing(t *testing.T) {
	r := newRace(t, "")
	r.enqueue(store.NewJob{})
	tx := r.hold()
	if c, err := store.ClaimIn(r.ctx, r.first, tx, r.server, "default", 10); err != nil || len(c) != 1 {
		t.Fatal(c, err)
	}
	if c := r.claim(1); len(c) != 0 {
		t.Fatal("claimed while another holds it")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if c := r.claim(1); len(c) != 1 || c[0].Attempt != 1 {
		t.Errorf("%+v", c)
	}
	r.check()
}

func TestPromoteAgainstPromoteSkips(t *testing.T) {
	r := newRace(t, "")
	jobs := make([]store.NewJob, 1100)
	for i := range jobs {
		jobs[i].In = time.Hour
	}
	r.enqueue(jobs...)
	r.exec(`update tekrar.scheduled set run_at = clock_timestamp()`)
	tx := r.hold()
	mine, err := store.PromoteIn(r.ctx, r.first, tx)
	if err != nil || len(mine) != 1000 {
		t.Fatal(len(mine), err)
	}
	theirs := must(r, apart(func() (store.Promoted, error) { return r.second.Promote(r.ctx) }))
	if len(theirs.IDs) != 100 {
		t.Errorf("the second took %d, want the other 100", len(theirs.IDs))
	}
	r.commit(tx)
	if n := r.count(`select count(*) from tekrar.ready`); n != 1100 {
		t.Errorf("%d ready", n)
	}
	r.check()
}

// A person who requeues a job that is just being promoted waits, and is told.
func TestRequeueAgainstPromote(t *testing.T) {
	r := newRace(t, "")
	id := r.enqueue(store.NewJob{In: time.Hour})[0]
	r.exec(`update tekrar.scheduled set run_at = clock_timestamp()`)
	tx := r.hold()
	if ids, err := store.PromoteIn(r.ctx, r.first, tx); err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	move := r.moveApart(r.second, "requeue", store.Target{ID: id, Expected: store.Scheduled})
	r.secondWaits()
	r.commit(tx)
	r.wantLoser(must(r, move)[0], store.Enqueued)
	r.wantTold(id, "ready 0 r0 l0 s0\nscheduled 0\nenqueued 0 \"Triggered by scheduler\"")
	r.check()
}
