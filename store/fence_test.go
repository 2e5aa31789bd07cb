package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Whoever does not hold the job changes nothing: what it would have written is
// kept as a late row and counts nowhere.
func TestSettleIsFencedByTheWholeToken(t *testing.T) {
	e := writeSetup(t)
	c := e.running()
	before := e.tell(c.ID)
	for name, s := range map[string]struct {
		server int64
		store.Settled
	}{
		"attempt before": {e.server, store.Settled{ID: c.ID, Attempt: 0}},
		"attempt after":  {e.server, store.Settled{ID: c.ID, Attempt: 2}},
		"another server": {e.server + 1, store.Settled{ID: c.ID, Attempt: 1}},
	} {
		s.State, s.Outcome = store.Failed, store.OutcomePermanent
		refused, err := e.db.Settle(e.ctx, s.server, []store.Settled{s.Settled})
		if err != nil || len(refused) != 1 || refused[0] != (store.Token{ID: c.ID, Attempt: s.Attempt}) {
			t.Errorf("%s: refused %v, %v", name, refused, err)
		}
		before += fmt.Sprintf("\nlate %d on %d \"Too late: the job had been taken from this attempt\"", s.Attempt, s.server)
		e.wantTold(c.ID, before)
	}
	if e.count(`select count(*) from tekrar.stats`) != 0 {
		t.Error("late results were counted")
	}
	if refused := e.settle(store.Settled{ID: 404, Attempt: 1, State: store.Succeeded, Outcome: 1}); len(refused) != 0 {
		t.Errorf("a job that is gone leaves no late row: %v", refused)
	}
	e.check()
}

// Settling twice, in two batches or in one, succeeds once.
func TestSettleTwice(t *testing.T) {
	e := writeSetup(t)
	a, b := e.running(), e.running()
	e.settle(succeeded(a))
	if refused := e.settle(succeeded(a)); len(refused) != 1 {
		t.Errorf("refused %v", refused)
	}
	retry := store.Settled{ID: b.ID, Attempt: 1, State: store.Enqueued, Outcome: store.OutcomeInterrupted, Reason: "Interrupted by shutdown"}
	if refused := e.settle(succeeded(b), retry, succeeded(b)); len(refused) != 0 {
		t.Errorf("refused %v", refused)
	}
	e.wantTold(b.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\nsucceeded 1 on %[1]d", e.server))
	if n := e.count(`select sum(n) from tekrar.stats`); n != 2 {
		t.Errorf("%d counted, want 2", n)
	}
	e.check()
}

// A server that was declared lost, stopped, or let its lease end claims nothing.
func TestAServerWithoutALeaseClaimsNothing_LSE12(t *testing.T) {
	e := writeSetup(t)
	e.enqueue(store.NewJob{})
	ended, stopped, lost := e.register("ended"), e.register("stopped"), e.register("lost")
	e.expire(lost)
	e.reclaim(3)
	e.expire(ended)
	if err := e.db.Stop(e.ctx, stopped); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{ended, stopped, lost, 4711} {
		if c := e.claimAs(id, 1); len(c) != 0 {
			t.Errorf("server %d claimed %+v", id, c)
		}
	}
	for id, want := range map[int64]error{ended: nil, stopped: store.ErrLeaseLost, lost: store.ErrLeaseLost, 4711: store.ErrLeaseLost} {
		if err := e.db.Renew(e.ctx, id, time.Hour, true, true); !errors.Is(err, want) {
			t.Errorf("renew %d: %v, want %v", id, err, want)
		}
	}
	if c := e.claimAs(ended, 1); len(c) != 1 {
		t.Error("a lease that merely ran out is renewed, and its server claims again")
	}
}

// Trap 5: a frozen server that was in the middle of a claim when it was declared
// lost holds jobs afterwards; the next sweep takes them.
func TestAFrozenServersLastClaimIsSwept(t *testing.T) {
	r := newRace(t, "")
	frozen := r.register("frozen")
	id := r.enqueue(store.NewJob{})[0]
	tx := r.hold()
	if c, err := store.ClaimIn(r.ctx, r.first, tx, frozen, "default", 1); err != nil || len(c) != 1 {
		t.Fatal(c, err)
	}
	r.expire(frozen)
	if took := r.reclaim(3); len(took.Servers) != 1 || len(took.IDs) != 0 {
		t.Fatalf("%+v", took)
	}
	r.commit(tx)
	if took := r.reclaim(3); len(took.IDs) != 1 {
		t.Errorf("%+v", took)
	}
	r.wantTold(id, fmt.Sprintf("ready 1 r0 l1 s0\nenqueued 0\nprocessing 1 on %[1]d\nenqueued 1 on %[1]d \"Server frozen lost\"", frozen))
	r.check()
}

// Taken names what a server no longer holds, and nothing else.
func TestTakenNamesWhatIsNoLongerHeld(t *testing.T) {
	e := writeSetup(t)
	a, b := e.running(), e.running()
	ask := []store.Token{{ID: a.ID, Attempt: 1}, {ID: b.ID, Attempt: 1}, {ID: b.ID, Attempt: 2}}
	if _, err := e.db.Delete(e.ctx, "ann", []store.Target{{ID: a.ID, Expected: store.Processing}}); err != nil {
		t.Fatal(err)
	}
	taken, _, err := e.db.Taken(e.ctx, e.server, ask)
	if err != nil || len(taken) != 2 || taken[0] != ask[0] || taken[1] != ask[2] {
		t.Errorf("%v, %v", taken, err)
	}
}
