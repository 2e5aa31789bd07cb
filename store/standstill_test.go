package store_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// A sweeper that stands still in the middle of taking over (its process is
// frozen, or its network gone) keeps the jobs from the other sweepers for a
// moment only; when it goes on, it has taken nothing and takes nothing twice.
func TestASweeperThatStandsStillKeepsNobody_LSE01(t *testing.T) {
	r := newRace(t, "reclaim: jobs taken")
	store.SetStandstill(r.first, 300*time.Millisecond)
	lost, c := r.lostServer()
	frozen := r.reclaimApart(r.first)
	<-r.reached
	if took := must(r, r.reclaimApart(r.second)); len(took.IDs) != 1 || took.IDs[0] != c.ID {
		t.Errorf("the second sweep took %+v", took)
	}
	r.goOn()
	// Its session is gone: it fails, or tries again and finds nothing.
	if o := <-frozen; len(o.value.IDs)+len(o.value.Servers) != 0 {
		t.Errorf("the frozen sweep took %+v", o.value)
	}
	if n := r.count(`select count(*) from tekrar.servers where lost_at is not null`); n != 1 {
		t.Errorf("%d servers are lost, want server %d", n, lost)
	}
	r.check()
}

// The same for a claim of limited jobs: others pass over a lock that is held, so
// that they would claim none of them for as long as it is.
func TestALimitedClaimThatStandsStillKeepsNobody(t *testing.T) {
	r := newRace(t, "claim: limits locked")
	store.SetStandstill(r.first, 300*time.Millisecond)
	limits := []store.Limit{{Scope: store.LimitKind, Name: "k", Running: 5}}
	if err := r.second.SaveLimits(r.ctx, limits); err != nil {
		t.Fatal(err)
	}
	r.enqueue(store.NewJob{})
	claim := func(db *store.DB) ([]store.Claimed, error) {
		return db.ClaimLimited(r.ctx, r.server, limits, lanes("default"), []string{"k"}, 5)
	}
	frozen := apart(func() ([]store.Claimed, error) { return claim(r.first) })
	<-r.reached
	until(t, "the other server claims", func() bool {
		claimed, err := claim(r.second)
		if err != nil {
			t.Fatal(err)
		}
		return len(claimed) == 1
	})
	r.goOn()
	if o := <-frozen; len(o.value) != 0 || o.err == nil {
		t.Errorf("the frozen claim took %v, %v", o.value, o.err)
	}
	r.check()
}
