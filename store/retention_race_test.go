package store_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/tekrar/tekrar/store"
)

func (r *race) expireApart(db *store.DB, state store.State) chan outcome[int] {
	return apart(func() (int, error) { return db.Expire(r.ctx, state, 0) })
}

// Between retention's read and its removal a person requeues the job: it survives.
func TestExpireLooksAgainBeforeItRemoves(t *testing.T) {
	r := newRace(t, "expire: rows read")
	x := store.Target{ID: put(t, r.db, past{states: way(store.Succeeded)})[0], Expected: store.Succeeded}
	expire := r.expireApart(r.first, store.Succeeded)
	<-r.reached
	if m := must(r, r.moveApart(r.second, "requeue", x))[0]; m.Err != nil {
		t.Fatal(m)
	}
	r.goOn()
	if n := must(r, expire); n != 0 {
		t.Errorf("%d removed", n)
	}
	if c := r.claim(1); len(c) != 1 || c[0].ID != x.ID || c[0].Attempt != 2 {
		t.Errorf("%+v", c)
	}
	r.check()
}

// A requeue that has not committed makes retention wait, and the job survives.
func TestExpireAgainstRequeueWaits(t *testing.T) {
	r := newRace(t, "move: done")
	x := store.Target{ID: put(t, r.db, past{states: way(store.Deleted)})[0], Expected: store.Deleted}
	move := r.moveApart(r.first, "requeue", x)
	<-r.reached
	expire := r.expireApart(r.second, store.Deleted)
	r.secondWaits()
	r.goOn()
	if m := must(r, move)[0]; m.Err != nil {
		t.Error(m)
	}
	if n := must(r, expire); n != 0 {
		t.Errorf("%d removed", n)
	}
	r.check()
}

// A removal that has not committed makes a requeue wait, and the job is gone.
func TestRequeueAgainstExpireFindsNothing(t *testing.T) {
	r := newRace(t, "expire: jobs removed")
	x := store.Target{ID: put(t, r.db, past{states: way(store.Succeeded)})[0], Expected: store.Succeeded}
	expire := r.expireApart(r.first, store.Succeeded)
	<-r.reached
	move := r.moveApart(r.second, "requeue", x)
	r.secondWaits()
	r.goOn()
	if n := must(r, expire); n != 1 {
		t.Errorf("%d removed", n)
	}
	if m := must(r, move)[0]; !errors.Is(m.Err, store.ErrNotFound) {
		t.Errorf("%+v", m)
	}
	if told := r.tell(x.ID); told != "" {
		t.Error(told)
	}
}

// A late result of a job that is just being removed waits, and leaves no history
// without a job.
func TestLateSettleAgainstExpireLeavesNothing(t *testing.T) {
	r := newRace(t, "expire: jobs removed")
	c := r.running()
	if m := must(r, r.moveApart(r.second, "delete", store.Target{ID: c.ID, Expected: store.Processing}))[0]; m.Err != nil {
		t.Fatal(m)
	}
	expire := r.expireApart(r.first, store.Deleted)
	<-r.reached
	settle := apart(func() ([]store.Token, error) { return r.second.Settle(r.ctx, r.server, []store.Settled{succeeded(c)}) })
	r.secondWaits()
	r.goOn()
	if n := must(r, expire); n != 1 {
		t.Errorf("%d removed", n)
	}
	must(r, settle)
	if n := r.count(`select count(*) from tekrar.history`); n != 0 {
		t.Errorf("%d history rows of no job: %s", n, r.tell(c.ID))
	}
}

// DBX-07: bulk deletion against the grain, retention, a sweep and settles in any
// order at once: each job ends one way, and nothing deadlocks.
func TestBulkDeleteRetentionAndSettlesAtOnce_DBX07(t *testing.T) {
	r := newRace(t, "")
	const n = 600
	r.enqueue(make([]store.NewJob, n)...)
	claimed := r.claim(n)
	var targets []store.Target
	for i := len(claimed) - 1; i >= 0; i-- {
		targets = append(targets, store.Target{ID: claimed[i].ID, Expected: store.Processing})
	}
	var settles []chan outcome[[]store.Token]
	for w := range 4 {
		var batch []store.Settled
		for i := range claimed {
			if at := (i * 7) % n; at%4 == w {
				batch = append(batch, succeeded(claimed[at]))
			}
		}
		db := r.second
		if w%2 == 0 {
			db = r.first
		}
		settles = append(settles, apart(func() ([]store.Token, error) { return db.Settle(r.ctx, r.server, batch) }))
	}
	var tries atomic.Int32
	store.SetPause(r.second, func(point string) {
		if point == "move: jobs locked" {
			tries.Add(1)
		}
	})
	del := apart(func() ([]store.Moved, error) { return r.second.Delete(r.ctx, "bob", targets) })
	expire, sweep := r.expireApart(r.first, store.Succeeded), r.reclaimApart(r.first)
	deleted, refused := 0, 0
	for _, m := range must(r, del) {
		if m.Err == nil {
			deleted++
		}
	}
	for _, s := range settles {
		refused += len(must(r, s))
	}
	expired := must(r, expire)
	must(r, sweep)
	if kept := r.count(`select count(*) from tekrar.jobs`); refused != deleted || kept+expired != n {
		t.Errorf("%d deleted, %d refused; %d kept, %d expired of %d", deleted, refused, kept, expired, n)
	}
	if n := tries.Load(); n != 1 {
		t.Errorf("the deletion was tried %d times: it deadlocked", n)
	}
	if counted := r.count(`select coalesce(sum(n), 0) from tekrar.stats where outcome = 1`); counted != n-deleted {
		t.Errorf("%d succeeded counted, want %d", counted, n-deleted)
	}
}
