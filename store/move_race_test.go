package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tekrar/tekrar/store"
)

func (r *race) moveApart(db *store.DB, name string, x store.Target) chan outcome[[]store.Moved] {
	return apart(func() ([]store.Moved, error) {
		if name == "requeue" {
			return db.Requeue(r.ctx, "ann", true, []store.Target{x})
		}
		return db.Delete(r.ctx, "bob", []store.Target{x})
	})
}

// wantLoser: a calm answer, with the state that the winner left.
func (r *race) wantLoser(m store.Moved, now store.State) {
	r.Helper()
	if !errors.Is(m.Err, store.ErrStateChanged) || m.Now != now {
		r.Errorf("the loser got %+v, want %s", m, now)
	}
}

// RTY-04: a double click moves the job once; the second click waited for the first.
func TestRequeueTwice_RTY04(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"move: jobs locked", "move: done"} {
		t.Run(point, func(t *testing.T) {
			r := newRace(t, point)
			x := store.Target{ID: put(t, r.db, past{states: way(store.Failed)})[0], Expected: store.Failed}
			one := r.moveApart(r.first, "requeue", x)
			<-r.reached
			two := r.moveApart(r.second, "requeue", x)
			r.secondWaits()
			r.goOn()
			if m := must(r, one)[0]; m.Err != nil || m.Now != store.Enqueued {
				t.Errorf("the winner got %+v", m)
			}
			r.wantLoser(must(r, two)[0], store.Enqueued)
			r.wantTold(x.ID, "ready 1 r0 l0 s0\nenqueued 0 by someone\nprocessing 1 on 1\nfailed 1\nenqueued 1 \"Requeued by ann\" by ann\naudit: ann requeue from 5")
			r.check()
		})
	}
}

// RTY-04: twenty at once, half of them in another process.
func TestRequeueTwentyTimes_RTY04(t *testing.T) {
	r := newRace(t, "")
	for _, state := range []store.State{store.Failed, store.Succeeded} {
		x := store.Target{ID: put(t, r.db, past{states: way(state)})[0], Expected: state}
		var all []chan outcome[[]store.Moved]
		for i := range 20 {
			all = append(all, r.moveApart([]*store.DB{r.first, r.second}[i%2], "requeue", x))
		}
		won := 0
		for _, c := range all {
			if m := must(r, c)[0]; m.Err == nil {
				won++
			} else {
				r.wantLoser(m, store.Enqueued)
			}
		}
		if rows := r.count(`select count(*) from tekrar.history where job_id = $1 and state = 2 and actor = 'ann'`, x.ID); won != 1 || rows != 1 {
			t.Errorf("%s: %d won, %d history rows; want 1, 1", state, won, rows)
		}
	}
	r.check()
}

// A finished job has no hot row that two people could fight for: requeue and
// delete of it still happen one after the other.
func TestRequeueAgainstDeleteOfASucceededJob(t *testing.T) {
	t.Parallel()
	for first, second := range map[string]string{"requeue": "delete", "delete": "requeue"} {
		t.Run(first+" first", func(t *testing.T) {
			r := newRace(t, "move: done")
			x := store.Target{ID: put(t, r.db, past{states: way(store.Succeeded)})[0], Expected: store.Succeeded}
			one := r.moveApart(r.first, first, x)
			<-r.reached
			two := r.moveApart(r.second, second, x)
			r.secondWaits()
			r.goOn()
			m := must(r, one)[0]
			if m.Err != nil {
				t.Error(m)
			}
			r.wantLoser(must(r, two)[0], m.Now)
			if n := r.count(`select count(*) from tekrar.audit`); n != 1 {
				t.Errorf("%d audit rows", n)
			}
			r.check()
		})
	}
}

// A settle that meets a deletion waits for it and is late: no resurrection.
func TestSettleAgainstDeleteIsLate_EXE12(t *testing.T) {
	r := newRace(t, "move: done")
	c := r.running()
	del := r.moveApart(r.first, "delete", store.Target{ID: c.ID, Expected: store.Processing})
	<-r.reached
	settle := apart(func() ([]store.Token, error) {
		return r.second.Settle(r.ctx, r.server, []store.Settled{{ID: c.ID, Attempt: 1, State: store.Scheduled, Outcome: store.OutcomeRetried,
			Cause: store.CauseRetry, Delay: 1, Retry: 1, FailedReason: "An error occurred during attempt 1", FailedData: `{"error":"boom"}`, Reason: "Retry attempt 1 of 3: boom"}})
	})
	r.secondWaits()
	r.goOn()
	if m := must(r, del)[0]; m.Err != nil || m.Now != store.Deleted {
		t.Errorf("deleted: %+v", m)
	}
	if refused := must(r, settle); len(refused) != 1 {
		t.Errorf("refused %v", refused)
	}
	r.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\ndeleted 1 \"Deleted by bob\" by bob\n"+
		"late 1 on %[1]d \"Too late: the job had been taken from this attempt\"\naudit: bob delete from 3", r.server))
	if r.count(`select count(*) from tekrar.history where state = 7 and data->>'error' = 'boom' and data->>'would_be' = '1'`) != 1 {
		t.Error("the late row lost its error")
	}
	r.check()
}

// A deletion that meets a settle waits for it and finds the job elsewhere.
func TestDeleteAgainstSettleFindsItElsewhere_EXE12(t *testing.T) {
	r := newRace(t, "")
	c := r.running()
	tx := r.hold()
	if refused, err := store.SettleIn(r.ctx, r.first, tx, r.server, succeeded(c)); err != nil || len(refused) != 0 {
		t.Fatal(refused, err)
	}
	del := r.moveApart(r.second, "delete", store.Target{ID: c.ID, Expected: store.Processing})
	r.secondWaits()
	r.commit(tx)
	r.wantLoser(must(r, del)[0], store.Succeeded)
	r.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\nsucceeded 1 on %[1]d", r.server))
	r.check()
}

// DBX-07: a batch locks its rows by id, as deletions do, whatever its order:
// while it waits for the first it does not hold the second.
func TestSettleLocksInTheOrderOfIDs_DBX07(t *testing.T) {
	r := newRace(t, "")
	one, two := r.running(), r.running()
	tx := r.hold()
	if _, err := tx.Exec(`select 1 from tekrar.running where job_id = $1 for update`, one.ID); err != nil {
		t.Fatal(err)
	}
	settle := apart(func() ([]store.Token, error) {
		return r.second.Settle(r.ctx, r.server, []store.Settled{succeeded(two), succeeded(one)})
	})
	r.secondWaits()
	if n := r.count(`select count(*) from (select 1 from tekrar.running where job_id = $1 for update skip locked) x`, two.ID); n != 1 {
		t.Error("it holds the later job while it waits for the earlier one")
	}
	r.commit(tx)
	if refused := must(r, settle); len(refused) != 0 {
		t.Error(refused)
	}
	r.check()
}
