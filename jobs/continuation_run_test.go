package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A failed parent that a person has fixed fires those who wait for its success.
func TestFixedParentFires(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	parent := r.put(ends{"later"})
	onSuccess, onFailure := r.put(ends{"ok"}, jobs.After(parent, jobs.OnSuccess)), r.put(ends{"ok"}, jobs.After(parent, jobs.OnFailure))
	r.waitFor(onFailure, store.Succeeded)
	same(t, store.Awaiting, r.detail(onSuccess).State)
	if m, err := r.Requeue(t.Context(), "ann", jobs.KeepRetries, jobs.Target{ID: parent, Expected: jobs.Failed}); err != nil || m[0].Err != nil {
		t.Fatal(m, err)
	}
	same(t, fmt.Sprintf("enqueued: Parent %d succeeded", parent), told(r.waitFor(onSuccess, store.Succeeded))[1])
	same(t, 4, len(told(r.detail(onFailure))))
}

// A failure that a retry follows starts nothing.
func TestRetriedFailureIsNoEnd(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Args.N == 1 && j.Attempt < 3 {
			return errPaper
		}
		return nil
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{0, 200 * time.Millisecond}})))
	parent := r.put(task{N: 1})
	onFailure, always := r.put(task{}, jobs.After(parent, jobs.OnFailure)), r.put(task{}, jobs.After(parent, jobs.Always))
	same(t, fmt.Sprintf("deleted: Parent %d succeeded; it waited for a failure", parent), told(r.waitFor(onFailure, store.Deleted))[1])
	d := r.waitFor(always, store.Succeeded)
	if p := r.detail(parent); d.History[len(d.History)-2].At.Before(p.History[0].At) {
		t.Error("started before the parent had ended")
	}
}

// Nobody is told and nobody listens: the poll alone starts continuations, those
// of another process and those whose settling process died in between included.
func TestContinuationsByPollingAlone(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.PollOnly = true
	db := storetest.New(t)
	elsewhere := newClient(t, db, cfg)
	parent := enqueue(t, elsewhere, ends{"ok"})
	child := enqueue(t, elsewhere, ends{"ok"}, jobs.After(parent.ID, jobs.OnSuccess))
	// The parent settles in a process that dies before it starts the child.
	server, err := db.Register(t.Context(), store.NewServer{Name: "dies", Host: "h", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := db.Claim(t.Context(), server, []store.Lane{{Queue: "default"}}, []string{"ends"}, 1)
	if err != nil || len(claimed) != 1 || claimed[0].ID != parent.ID {
		t.Fatal(claimed, err)
	}
	if _, err := db.Settle(t.Context(), server, []store.Settled{{ID: parent.ID, Attempt: 1, State: store.Succeeded, Outcome: store.OutcomeSucceeded, Worker: 1}}); err != nil {
		t.Fatal(err)
	}
	r := startOn(t, db, cfg, on(ending))
	defer check(t, db)
	defer r.stop()
	r.waitFor(child.ID, store.Succeeded)
	parent = enqueue(t, elsewhere, ends{"fail"})
	r.waitFor(parent.ID, store.Failed)
	child = enqueue(t, elsewhere, ends{"ok"}, jobs.After(parent.ID, jobs.OnFailure))
	r.waitFor(child.ID, store.Succeeded)
}

// The continuation starts right after its parent, not at the next poll, also when
// the enqueue commits long after the parent has ended.
func TestContinuationsAreQuick(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.Poll = time.Hour
	r := start(t, cfg, on(ending))
	r.listens()
	for range 5 {
		parent := r.put(ends{"ok"})
		r.waitFor(r.put(ends{"ok"}, jobs.After(parent, jobs.OnSuccess)), store.Succeeded)
	}
	parent := r.put(ends{"ok"}, jobs.Queue("elsewhere"))
	var child jobs.EnqueueResult
	err := r.db.Tx(t.Context(), func(tx *sqlx.Tx) (err error) {
		if child, err = r.EnqueueTx(t.Context(), tx, ends{"ok"}, jobs.After(parent, jobs.OnSuccess)); err != nil {
			return err
		}
		r2 := startOn(t, r.db, cfg, on(ending, jobs.OnQueue("elsewhere")))
		defer r2.stop()
		r2.waitFor(parent, store.Succeeded)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(child.ID, store.Succeeded)
}

// Many parents and continuations of two clients, each enqueued while its parent
// may be running or done: every one runs once.
func TestNoContinuationIsLost(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	r := start(t, quickly(), on(func(context.Context, *jobs.Job[task]) error { ran.Add(1); return nil }))
	elsewhere := newClient(t, r.db, quickly())
	const n = 150
	ids := make(chan int64, 2*n)
	for _, c := range []*jobs.Client{r.Client, elsewhere} {
		go func() {
			for range n {
				parent, err := c.Enqueue(context.Background(), task{})
				if err == nil {
					parent, err = c.Enqueue(context.Background(), task{}, jobs.After(parent.ID, jobs.OnSuccess))
				}
				if err != nil {
					t.Error(err)
				}
				ids <- parent.ID
			}
		}()
	}
	var all []int64
	for range 2 * n {
		all = append(all, <-ids)
	}
	for _, id := range all {
		r.waitFor(id, store.Succeeded)
	}
	same(t, int64(4*n), ran.Load())
}

// An awaiting job holds its unique key as a waiting one.
func TestAwaitingHoldsItsKey(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	parent := enqueue(t, c, ends{"ok"})
	key := jobs.Unique("K", jobs.WhileWaiting)
	first, second := enqueue(t, c, ends{"ok"}, jobs.After(parent.ID, jobs.OnSuccess), key), enqueue(t, c, ends{"ok"}, key)
	same(t, jobs.EnqueueResult{ID: first.ID, State: jobs.Awaiting, Duplicate: true}, second)
	items := []jobs.Item{{Args: ends{"ok"}}, {Args: ends{"ok"}, Options: []jobs.EnqueueOption{jobs.After(parent.ID, jobs.Always)}}, {Args: ends{"ok"}, Options: []jobs.EnqueueOption{key}}}
	placed, err := c.EnqueueMany(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	var states []jobs.State
	for _, p := range placed {
		states = append(states, p.State)
	}
	if !slices.Equal(states, []jobs.State{jobs.Enqueued, jobs.Awaiting, jobs.Awaiting}) || !placed[2].Duplicate {
		t.Error(placed)
	}
	check(t, db)
}
