package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

func (r *race) reclaimApart(db *store.DB) chan outcome[store.Reclaimed] {
	return apart(func() (store.Reclaimed, error) { return db.Reclaim(r.ctx, r.server, 3) })
}

// A settle that meets a reclaim waits for it, is refused, and leaves one late row.
func TestSettleAgainstReclaimWaitsAndIsRefused_LSE12(t *testing.T) {
	r := newRace(t, "reclaim: jobs taken")
	lost, c := r.lostServer()
	sweep := r.reclaimApart(r.first)
	<-r.reached
	settle := apart(func() ([]store.Token, error) {
		return r.second.Settle(r.ctx, lost, []store.Settled{succeeded(c)})
	})
	r.secondWaits()
	r.goOn()
	if took := must(r, sweep); len(took.IDs) != 1 {
		t.Errorf("took %+v", took)
	}
	if refused := must(r, settle); len(refused) != 1 || refused[0] != (store.Token{ID: c.ID, Attempt: 1}) {
		t.Errorf("refused %v", refused)
	}
	r.wantTold(c.ID, fmt.Sprintf("ready 1 r0 l1 s0\nenqueued 0\nprocessing 1 on %[1]d\nenqueued 1 on %[1]d \"Server lost lost\"\n"+
		"late 1 on %[1]d \"Too late: the job had been taken from this attempt\"", lost))
	if r.count(`select count(*) from tekrar.history where state = 7 and data->>'would_be' = '4' and worker = 7 and duration_us = 3000`) != 1 {
		t.Error("the late row does not say what it would have written")
	}
	if r.count(`select count(*) from tekrar.stats`) != 1 || r.count(`select count(*) from tekrar.stats where outcome = 8 and n = 1`) != 1 {
		t.Error("a late result counts for nothing, the loss once")
	}
	r.check()
}

// A sweep that meets a settle leaves the job alone, without waiting.
func TestReclaimSkipsAJobThatIsBeingSettled_LSE02(t *testing.T) {
	r := newRace(t, "")
	lost, c := r.lostServer()
	tx := r.hold()
	if refused, err := store.SettleIn(r.ctx, r.first, tx, lost, succeeded(c)); err != nil || len(refused) != 0 {
		t.Fatal(refused, err)
	}
	if took := must(r, r.reclaimApart(r.second)); len(took.IDs) != 0 || len(took.Servers) != 1 {
		t.Errorf("took %+v", took)
	}
	r.commit(tx)
	if took := r.reclaim(3); len(took.IDs) != 0 {
		t.Errorf("took %+v", took)
	}
	r.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\nsucceeded 1 on %[1]d", lost))
	r.check()
}

// LSE-02: between the sweeper's read of the expired servers and its update the
// server renews, the job completes, or completes and is claimed elsewhere.
func TestReclaimLooksAgainBeforeItTakes_LSE02(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*race, int64, store.Claimed) (told string){
		"renewed": func(r *race, lost int64, c store.Claimed) string {
			if err := r.second.Renew(r.ctx, lost, time.Hour, true, false); err != nil {
				r.Fatal(err)
			}
			return fmt.Sprintf("running 1 r0 l0 s0 on %[1]d\nenqueued 0\nprocessing 1 on %[1]d", lost)
		},
		"completed": func(r *race, lost int64, c store.Claimed) string {
			if refused, err := r.second.Settle(r.ctx, lost, []store.Settled{succeeded(c)}); err != nil || len(refused) != 0 {
				r.Fatal(refused, err)
			}
			return fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\nsucceeded 1 on %[1]d", lost)
		},
		"completed and claimed elsewhere": func(r *race, lost int64, c store.Claimed) string {
			again := store.Settled{ID: c.ID, Attempt: 1, State: store.Enqueued, Outcome: store.OutcomeInterrupted, Reason: "Interrupted by shutdown"}
			if refused, err := r.second.Settle(r.ctx, lost, []store.Settled{again}); err != nil || len(refused) != 0 || len(r.claim(1)) != 1 {
				r.Fatal(refused, err)
			}
			return fmt.Sprintf("running 2 r0 l0 s0 on %[2]d\nenqueued 0\nprocessing 1 on %[1]d\nenqueued 1 on %[1]d \"Interrupted by shutdown\"\nprocessing 2 on %[2]d", lost, r.server)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, "reclaim: expired servers read")
			lost, c := r.lostServer()
			sweep := r.reclaimApart(r.first)
			<-r.reached
			told := between(r, lost, c)
			r.goOn()
			took := must(r, sweep)
			if len(took.IDs) != 0 || (name == "renewed") != (len(took.Servers) == 0) {
				t.Errorf("took %+v", took)
			}
			r.wantTold(c.ID, told)
			r.check()
		})
	}
}

// A renewal that comes while the sweep has not committed waits, and learns that it is lost.
func TestRenewAgainstReclaimWaitsAndIsLost_LSE12(t *testing.T) {
	r := newRace(t, "reclaim: jobs taken")
	lost, _ := r.lostServer()
	sweep := r.reclaimApart(r.first)
	<-r.reached
	renew := apart(func() (struct{}, error) { return struct{}{}, r.second.Renew(r.ctx, lost, time.Hour, true, false) })
	r.secondWaits()
	r.goOn()
	must(r, sweep)
	if o := <-renew; !errors.Is(o.err, store.ErrLeaseLost) {
		t.Errorf("renewed: %v", o.err)
	}
}

// Two sweeps at once: one takes the jobs, each once.
func TestReclaimAgainstReclaim(t *testing.T) {
	r := newRace(t, "reclaim: jobs taken")
	lost, c := r.lostServer()
	one := r.reclaimApart(r.first)
	<-r.reached
	two := r.reclaimApart(r.second)
	r.secondWaits()
	r.goOn()
	if took := must(r, one); len(took.IDs) != 1 {
		t.Errorf("first took %+v", took)
	}
	if took := must(r, two); len(took.IDs)+len(took.Servers) != 0 {
		t.Errorf("second took %+v", took)
	}
	r.wantTold(c.ID, fmt.Sprintf("ready 1 r0 l1 s0\nenqueued 0\nprocessing 1 on %[1]d\nenqueued 1 on %[1]d \"Server lost lost\"", lost))
	r.check()
}
