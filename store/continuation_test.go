package store_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
)

var conditionNames = map[store.Condition]string{store.OnSuccess: "succeed", store.OnFailure: "fail", store.Always: "end"}

// after enqueues a continuation in a transaction of its own.
func (e *engine) after(parent int64, c store.Condition) store.Created {
	e.Helper()
	created, err := e.tryAfter(parent, c)
	if err != nil {
		e.Fatal(err)
	}
	return created
}

func (e *engine) tryAfter(parent int64, c store.Condition) (created store.Created, err error) {
	err = e.db.Tx(e.ctx, func(tx *sqlx.Tx) error {
		all, err := e.db.EnqueueIn(e.ctx, tx, []store.NewJob{{Queue: "default", Kind: "k", Args: "{}", Parent: parent, Condition: c}}, nil)
		if err == nil {
			created = all[0]
		}
		return err
	})
	return created, err
}

func (e *engine) sweep() (all []store.Continued) {
	e.Helper()
	var place store.AwaitingPlace
	for {
		some, _, next, err := e.db.SweepAwaiting(e.ctx, place)
		if err != nil {
			e.Fatal(err)
		}
		if all, place = append(all, some...), next; next == (store.AwaitingPlace{}) {
			return all
		}
	}
}

// Every way a parent can stand, every condition, and who decides: the enqueue
// that finds the parent ended, the hint of who ended it, or the sweep alone.
func TestContinuations(t *testing.T) {
	e := writeSetup(t)
	enqueued, deleted, awaiting := store.Enqueued, store.Deleted, store.Awaiting
	word := map[store.State]string{store.Succeeded: "succeeded", store.Failed: "failed", store.Deleted: "was deleted"}
	for parent, want := range map[store.State][3]store.State{
		store.Enqueued: {awaiting, awaiting, awaiting}, store.Scheduled: {awaiting, awaiting, awaiting},
		store.Processing: {awaiting, awaiting, awaiting}, store.Awaiting: {awaiting, awaiting, awaiting},
		store.Succeeded: {enqueued, deleted, enqueued}, store.Failed: {awaiting, enqueued, enqueued}, store.Deleted: {awaiting, enqueued, enqueued},
	} {
		for i, want := range want {
			condition := store.Condition(i + 1)
			for _, by := range []string{"enqueue", "hint", "sweep"} {
				name := fmt.Sprintf("parent %s, waits for it to %s, decided by %s", parent, conditionNames[condition], by)
				id := put(t, e.db, past{states: way(parent)})[0]
				var child store.Created
				if by == "enqueue" {
					if child = e.after(id, condition); child.State != want {
						t.Errorf("%s: enqueued as %s", name, child.State)
					}
				} else {
					other := put(t, e.db, past{states: way(store.Enqueued)})[0]
					child = e.after(other, condition)
					e.exec(`update tekrar.awaiting set parent_id = $1 where job_id = $2`, id, child.ID)
					e.exec(`update tekrar.history set reason = replace(reason, $1::text, $2::text) where job_id = $3`, strconv.FormatInt(other, 10), strconv.FormatInt(id, 10), child.ID)
					if by == "sweep" {
						e.sweep()
					} else if _, err := e.db.Continue(e.ctx, []int64{id, 404, id}); err != nil {
						t.Fatal(err)
					}
				}
				waits := fmt.Sprintf("awaiting 0 \"Waits for job %d to %s\"", id, conditionNames[condition])
				story := map[store.State]string{
					awaiting: fmt.Sprintf("awaiting %d condition %d\n%s", id, condition, waits),
					enqueued: fmt.Sprintf("ready 0 r0 l0 s0\n%s\nenqueued 0 \"Parent %d %s\"", waits, id, word[parent]),
					deleted:  fmt.Sprintf("%s\ndeleted 0 \"Parent %d %s; it waited for a failure\"", waits, id, word[parent]),
				}[want]
				if got := e.tell(child.ID); got != story {
					t.Errorf("%s:\n%s\nwant\n%s", name, got, story)
				}
			}
		}
	}
	e.check()
}

func TestParentMissing(t *testing.T) {
	e := writeSetup(t)
	_, err := e.tryAfter(404, store.Always)
	var missing *store.NoParentError
	if !errors.As(err, &missing) || missing.ID != 404 {
		t.Fatal(err)
	}
	if n := e.count(`select count(*) from tekrar.jobs`); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// The parent settles while its continuation's enqueue is not committed: the
// settle neither waits nor sees it. Both orders end with the child enqueued.
func TestParentSettlesWhileItsContinuationIsEnqueued(t *testing.T) {
	r := newRace(t, "")
	for _, by := range []string{"hint", "sweep"} {
		c := r.running()
		tx := r.hold()
		created, err := r.first.EnqueueIn(r.ctx, tx, []store.NewJob{{Queue: "default", Kind: "k", Args: "{}", Parent: c.ID, Condition: store.OnSuccess}}, nil)
		if err != nil || created[0].State != store.Awaiting {
			t.Fatal(created, err)
		}
		if refused, err := r.second.Settle(r.ctx, r.server, []store.Settled{succeeded(c)}); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		if all, err := r.second.Continue(r.ctx, []int64{c.ID}); err != nil || len(all) > 0 {
			t.Fatal("seen before the commit:", all, err)
		}
		r.commit(tx)
		if by == "sweep" {
			r.sweep()
		} else if _, err := r.second.Continue(r.ctx, []int64{c.ID}); err != nil {
			t.Fatal(err)
		}
		r.wantTold(created[0].ID, fmt.Sprintf("ready 0 r0 l0 s0\nawaiting 0 \"Waits for job %[1]d to succeed\"\nenqueued 0 \"Parent %[1]d succeeded\"", c.ID))
		r.check()
	}
}

// Two servers decide at once: the second passes over what the first holds, and a
// person waits and comes too late.
func TestTwoServersContinueAtOnce(t *testing.T) {
	r := newRace(t, "continue: decided")
	c := r.running()
	child := r.after(c.ID, store.Always)
	r.settle(succeeded(c))
	one := apart(func() ([]store.Continued, error) { return r.first.Continue(r.ctx, []int64{c.ID}) })
	<-r.reached
	if all, err := r.second.Continue(r.ctx, []int64{c.ID}); err != nil || len(all) > 0 {
		t.Error("the second decided too:", all, err)
	}
	del := r.moveApart(r.second, "delete", store.Target{ID: child.ID, Expected: store.Awaiting})
	r.secondWaits()
	r.goOn()
	if all := must(r, one); len(all) != 1 || all[0].ID != child.ID || all[0].State != store.Enqueued {
		t.Error(all)
	}
	r.wantLoser(must(r, del)[0], store.Enqueued)
	r.check()
}

// A person who is faster than the servers: what the parent's end decided is done
// before the parent moves on.
func TestContinuationsBeforeAPersonMovesTheParent(t *testing.T) {
	e := writeSetup(t)
	for _, state := range []store.State{store.Succeeded, store.Failed} {
		c := e.running()
		child := e.after(c.ID, store.Always)
		out := succeeded(c)
		if state == store.Failed {
			out.State, out.Outcome = store.Failed, store.OutcomePermanent
		}
		e.settle(out)
		if _, err := e.db.Requeue(e.ctx, "ann", false, []store.Target{{ID: c.ID, Expected: state}}); err != nil {
			t.Fatal(err)
		}
		if told := e.tell(child.ID); !strings.HasSuffix(told, fmt.Sprintf("enqueued 0 \"Parent %d %s\"", c.ID, state)) {
			t.Error(told)
		}
		e.claim(10)
	}
	e.check()
}

// A deletion ends a parent in its own transaction, and what that deletes, ends too.
func TestDeletionStartsContinuationsAlongTheChain(t *testing.T) {
	e := writeSetup(t)
	parent := e.enqueue(store.NewJob{})[0]
	loser := e.after(e.enqueue(store.NewJob{})[0], store.OnFailure)
	e.exec(`update tekrar.awaiting set parent_id = $1 where job_id = $2`, parent, loser.ID)
	onDelete, onSuccess := e.after(parent, store.OnFailure), e.after(parent, store.OnSuccess)
	last := e.after(onSuccess.ID, store.Always)
	if m, err := e.db.Delete(e.ctx, "ann", []store.Target{{ID: parent, Expected: store.Enqueued}}); err != nil || m[0].Err != nil {
		t.Fatal(m, err)
	}
	for id, want := range map[int64]store.State{onDelete.ID: store.Enqueued, onSuccess.ID: store.Awaiting, last.ID: store.Awaiting} {
		if rows, err := e.db.JobRows(e.ctx, []int64{id}); err != nil || rows[0].State != want {
			t.Errorf("%+v, want %s (%v)", rows, want, err)
		}
	}
	// Retention ends the wait for a success that nobody can bring back.
	if n, err := e.db.Expire(e.ctx, store.Deleted, 0); err != nil || n != 1 {
		t.Errorf("expired %d, %v", n, err)
	}
	e.sweep()
	if told := e.tell(last.ID); !strings.Contains(told, fmt.Sprintf("Parent %d was deleted", onSuccess.ID)) || !strings.HasPrefix(told, "ready") {
		t.Error(told)
	}
	e.check()
}

// Row 90: retention decides who waits for what it removes, and nobody waits for ever.
func TestRetentionLeavesNobodyWaiting_90(t *testing.T) {
	e := writeSetup(t)
	deleted, succeeded := put(t, e.db, past{states: way(store.Deleted)})[0], put(t, e.db, past{states: way(store.Succeeded)})[0]
	vain := e.after(deleted, store.OnSuccess)
	other := e.enqueue(store.NewJob{})[0]
	due := e.after(other, store.OnSuccess)
	e.exec(`update tekrar.awaiting set parent_id = $1 where job_id = $2`, succeeded, due.ID)
	if n, err := e.db.Expire(e.ctx, store.Succeeded, 0); err != nil || n != 1 {
		t.Errorf("expired %d, %v", n, err)
	}
	if told := e.tell(due.ID); !strings.Contains(told, fmt.Sprintf("enqueued 0 \"Parent %d succeeded\"", succeeded)) {
		t.Error(told)
	}
	if n, err := e.db.Expire(e.ctx, store.Deleted, 0); err != nil || n != 1 {
		t.Errorf("expired %d, %v", n, err)
	}
	e.wantTold(vain.ID, fmt.Sprintf("awaiting 0 \"Waits for job %[1]d to succeed\"\ndeleted 0 \"Parent %[1]d was deleted and not restored; it waited for a success\"", deleted))
	// Rows removed by hand: the sweep finds that the parent is gone.
	for i, want := range []string{`deleted 0 "Parent 404 is gone; it waited for a success"`, `deleted 0 "Parent 404 is gone; it waited for a failure"`, `enqueued 0 "Parent 404 is gone"`} {
		child := e.after(other, store.Condition(i+1))
		e.exec(`update tekrar.awaiting set parent_id = 404 where job_id = $1`, child.ID)
		e.sweep()
		if told := e.tell(child.ID); !strings.HasSuffix(told, want) {
			t.Errorf("%s\nwant %s", told, want)
		}
	}
	e.exec(`delete from tekrar.stats`) // it counts what retention has removed
	e.check()
}

// Nobody loses a place in a sweep of more rows than one step takes.
func TestSweepInSteps(t *testing.T) {
	e := writeSetup(t)
	parents := put(t, e.db, repeat(2, past{states: way(store.Enqueued)})...)
	err := e.db.Tx(e.ctx, func(tx *sqlx.Tx) error {
		var list []store.NewJob
		for i := range 4500 {
			list = append(list, store.NewJob{Queue: "default", Kind: "k", Args: "{}", Parent: parents[i%2], Condition: store.Always})
		}
		_, err := e.db.EnqueueIn(e.ctx, tx, list, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	e.exec(`insert into tekrar.history (job_id, attempt, state, queue, kind) select j, 0, 6, 'default', 'k' from unnest(array[$1, $2]::bigint[]) j`, parents[0], parents[1])
	e.exec(`delete from tekrar.ready`)
	if all := e.sweep(); len(all) != 4500 {
		t.Errorf("%d of 4500 decided", len(all))
	}
	if rows := walk(t, e.db, store.JobFilter{State: store.Awaiting}); len(rows) != 0 {
		t.Errorf("%d left", len(rows))
	}
	e.check()
}

// The list: oldest first, filters, pages; the count holds as many.
func TestAwaitingList_92(t *testing.T) {
	e := writeSetup(t)
	put(t, e.db, repeat(3, past{states: way(store.Awaiting), queue: "other"})...)
	want := put(t, e.db, repeat(5, past{states: way(store.Awaiting)})...)
	f := store.JobFilter{State: store.Awaiting, Queue: "default", Limit: 2}
	if got := jobIDs(walk(t, e.db, f)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if c, err := e.db.CountJobs(e.ctx, f); err != nil || c.N != 5 {
		t.Error(c, err)
	}
	counts, err := e.db.Counts(e.ctx)
	if err != nil || counts[store.Awaiting].N != 8 {
		t.Error(counts, err)
	}
}
