package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

func (e *engine) promote() store.Promoted {
	e.Helper()
	p, err := e.db.Promote(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	return p
}

// Due by the database's clock, not a moment early; the rest says when to look next.
func TestPromoteMovesWhatIsDue(t *testing.T) {
	e := writeSetup(t)
	if p := e.promote(); len(p.IDs) != 0 || p.NextIn >= 0 {
		t.Errorf("empty: %+v", p)
	}
	ids := e.enqueue(store.NewJob{In: time.Hour, Queue: "a"}, store.NewJob{In: 2 * time.Hour, Queue: "b"})
	if p := e.promote(); len(p.IDs) != 0 || p.NextIn > time.Hour || p.NextIn < 59*time.Minute {
		t.Errorf("none due: %+v", p)
	}
	e.exec(`update tekrar.scheduled set run_at = clock_timestamp() where job_id = $1`, ids[0])
	if p := e.promote(); !slices.Equal(p.IDs, ids[:1]) || !slices.Equal(p.Queues, []string{"a"}) || p.NextIn < 119*time.Minute {
		t.Errorf("one due: %+v", p)
	}
	e.wantTold(ids[0], "ready 0 r0 l0 s0\nscheduled 0\nenqueued 0 \"Triggered by scheduler\"")
	e.wantTold(ids[1], "scheduled 0 r0 l0 s0 cause 1\nscheduled 0")
	e.check()
}

// A waiting retry keeps its counters.
func TestPromoteKeepsCounters(t *testing.T) {
	e := writeSetup(t)
	c := e.running()
	e.settle(store.Settled{ID: c.ID, Attempt: 1, State: store.Scheduled, Outcome: store.OutcomeRetried, Cause: store.CauseRetry,
		Retry: 2, Snoozes: 3, Losses: 1, FailedReason: "An error occurred during attempt 1", Reason: "Retry attempt 2 of 3: x"})
	if p := e.promote(); len(p.IDs) != 1 {
		t.Fatal(p)
	}
	c = e.claim(1)[0]
	if c.Attempt != 2 || c.Retry != 2 || c.Snoozes != 3 || c.Losses != 1 {
		t.Errorf("%+v", c)
	}
	e.check()
}

// What became due first is enqueued first, wherever its row lies; at most 1,000
// at once, and then it says that more is due.
func TestPromoteGoesByDueTime(t *testing.T) {
	e := writeSetup(t)
	jobs := make([]store.NewJob, 1005)
	for i := range jobs {
		jobs[i].In = time.Hour
	}
	ids := e.enqueue(jobs...)
	e.exec(`update tekrar.scheduled set run_at = clock_timestamp() - job_id * interval '1 s'`)
	if p := e.promote(); len(p.IDs) != 1000 || p.NextIn != 0 {
		t.Fatalf("%d, next in %s", len(p.IDs), p.NextIn)
	}
	if p := e.promote(); len(p.IDs) != 5 || p.NextIn >= 0 {
		t.Fatalf("%d, next in %s", len(p.IDs), p.NextIn)
	}
	var got []int64
	if err := e.db.SelectContext(e.ctx, &got, `select job_id from tekrar.ready order by ready_at, job_id desc`); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(ids)
	if !slices.Equal(got, ids) {
		t.Error("not enqueued in the order of their due times:", fmt.Sprint(got[:5]), "want", ids[:5])
	}
	e.check()
}
