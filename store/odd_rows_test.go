package store_test

import (
	"fmt"
	"testing"

	"github.com/tekrar/tekrar/store"
)

// LSE-08: one row with counters beyond every limit keeps none of the others from
// being claimed, settled and swept.
func TestARowBeyondItsLimitsHarmsNoOther_LSE08(t *testing.T) {
	e := writeSetup(t)
	ids := e.enqueue(make([]store.NewJob, 100)...)
	e.exec(`update tekrar.ready set attempt = 2147483647 where job_id = $1`, ids[0])
	e.exec(`update tekrar.ready set attempt = 500, retry = 2147483647, snoozes = 2147483647, losses = 32767 where job_id = $1`, ids[1])
	claimed := e.claim(200)
	if len(claimed) != 99 {
		t.Fatalf("%d claimed, want all but the one whose attempt cannot grow", len(claimed))
	}
	var batch []store.Settled
	for _, c := range claimed {
		batch = append(batch, succeeded(c))
	}
	if refused := e.settle(batch...); len(refused) != 0 {
		t.Errorf("refused %v", refused)
	}
	e.wantTold(ids[0], "ready 2147483647 r0 l0 s0\nenqueued 0")
	if m := e.moved(e.db.Delete(e.ctx, "ann", []store.Target{{ID: ids[0], Expected: store.Enqueued}})); m.Err != nil {
		t.Errorf("a person cannot take it out: %v", m.Err)
	}

	odd, fine := e.enqueue(store.NewJob{})[0], e.enqueue(store.NewJob{})[0]
	lost := e.register("lost")
	e.claimAs(lost, 2)
	e.exec(`update tekrar.running set losses = 32767 where job_id = $1`, odd)
	e.expire(lost)
	if r := e.reclaim(3); len(r.IDs) != 2 {
		t.Errorf("took %v", r.IDs)
	}
	e.wantTold(odd, fmt.Sprintf("failed 1 r0 l32767 s0 server lost: lost 32768 times\nenqueued 0\nprocessing 1 on %[1]d\nfailed 1 on %[1]d \"Server lost lost, lost 32768 times\"", lost))
	e.wantTold(fine, fmt.Sprintf("ready 1 r0 l1 s0\nenqueued 0\nprocessing 1 on %[1]d\nenqueued 1 on %[1]d \"Server lost lost\"", lost))
}

// LSE-15: a sweeper is killed while it takes over: nothing of it has happened, no
// lock is left, and the next sweep takes each job once.
func TestASweeperThatIsKilledLeavesAllToTheNext_LSE15(t *testing.T) {
	r := newRace(t, "reclaim: jobs taken")
	lost, c := r.lostServer()
	killed := r.reclaimApart(r.first)
	<-r.reached
	if n := r.count(`select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'first' and datname = current_database()`); n == 0 {
		t.Fatal("the sweeper has no connection")
	}
	if took := must(r, r.reclaimApart(r.second)); len(took.IDs) != 1 || len(took.Servers) != 1 {
		t.Errorf("the next sweep took %+v", took)
	}
	r.goOn()
	if o := <-killed; len(o.value.IDs) != 0 {
		t.Errorf("the killed sweep took %+v", o.value)
	}
	r.wantTold(c.ID, fmt.Sprintf("ready 1 r0 l1 s0\nenqueued 0\nprocessing 1 on %[1]d\nenqueued 1 on %[1]d \"Server lost lost\"", lost))
	r.check()
}
