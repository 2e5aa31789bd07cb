package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// ends is a job that ends as its args say: "ok", "fail", "cancel", "exceed", or
// "later": fails first, succeeds when a person runs it again.
type ends struct {
	As string `json:"as"`
}

func (ends) Kind() string { return "ends" }

func ending(_ context.Context, j *jobs.Job[ends]) error {
	switch {
	case j.Args.As == "fail", j.Args.As == "later" && j.Attempt == 1:
		return jobs.Permanent(errPaper)
	case j.Args.As == "exceed":
		return errPaper
	case j.Args.As == "cancel":
		return jobs.Cancel(errPaper)
	}
	return nil
}

func exceeding(as string) []jobs.EnqueueOption {
	if as != "exceed" {
		return nil
	}
	return []jobs.EnqueueOption{jobs.WithRetry(jobs.RetryPolicy{OnExceeded: jobs.Delete})}
}

var endings = []struct {
	as    string
	state store.State
	word  string
	// where the continuations on success, on failure and always come to stand
	want [3]store.State
}{
	{"ok", store.Succeeded, "succeeded", [3]store.State{store.Succeeded, store.Deleted, store.Succeeded}},
	{"fail", store.Failed, "failed", [3]store.State{store.Awaiting, store.Succeeded, store.Succeeded}},
	{"exceed", store.Deleted, "was deleted", [3]store.State{store.Awaiting, store.Succeeded, store.Succeeded}},
	{"cancel", store.Deleted, "was deleted", [3]store.State{store.Awaiting, store.Succeeded, store.Succeeded}},
}

// wantFamily waits until each continuation stands where it should, with the
// reason in its history.
func (r *running) wantFamily(parent int64, word string, children []int64, want [3]store.State) {
	r.t.Helper()
	for i, id := range children {
		d := r.waitFor(id, want[i])
		first := fmt.Sprintf("awaiting: Waits for job %d to %s", parent, []string{"succeed", "fail", "end"}[i])
		story := map[store.State][]string{
			store.Awaiting:  {first},
			store.Deleted:   {first, fmt.Sprintf("deleted: Parent %d %s; it waited for a failure", parent, word)},
			store.Succeeded: {first, fmt.Sprintf("enqueued: Parent %d %s", parent, word), "processing", "succeeded"},
		}[want[i]]
		same(r.t, story, told(d))
	}
}

// Row 85: a continuation of a job that does not exist is refused, by name.
func TestConformance_85_ParentMissing(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	wantRefused := func(what string, err error, words ...string) {
		t.Helper()
		var input *jobs.InputError
		if !errors.As(err, &input) {
			t.Fatalf("%s: %v", what, err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", what, err, w)
			}
		}
	}
	after := jobs.After(404, jobs.OnSuccess)
	_, err := r.Enqueue(t.Context(), ends{}, after)
	wantRefused("Enqueue", err, "after: job 404 does not exist")
	_, err = r.EnqueueMany(t.Context(), []jobs.Item{{Args: ends{}}, {Args: ends{}, Options: []jobs.EnqueueOption{after}}})
	wantRefused("EnqueueMany", err, "job 404")
	err = r.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := r.EnqueueTx(t.Context(), tx, ends{}, after)
		wantRefused("EnqueueTx", err, "job 404")
		_, err = r.EnqueueTx(t.Context(), tx, ends{}) // the caller's transaction goes on
		return err
	})
	if err != nil {
		t.Error(err)
	}
	same(t, 1, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
	for what, options := range map[string][]jobs.EnqueueOption{
		"no id":        {jobs.After(0, jobs.OnSuccess)},
		"no condition": {jobs.After(1, 0)},
		"unknown":      {jobs.After(1, 4)},
		"twice":        {jobs.After(1, jobs.Always), jobs.After(2, jobs.Always)},
		"a time":       {jobs.In(time.Hour), jobs.After(1, jobs.Always)},
		"a time after": {jobs.After(1, jobs.Always), jobs.At(time.Now().Add(time.Hour))},
	} {
		_, err := r.Enqueue(t.Context(), ends{}, options...)
		wantRefused(what, err, "after")
	}
}

// Row 86: a parent that has ended already starts its continuation at once, or
// decides it at once; in every way to enqueue.
func TestConformance_86_ParentEndedAlready(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	for _, e := range endings {
		parent := r.put(ends{e.as}, exceeding(e.as)...)
		r.waitFor(parent, e.state)
		var items []jobs.Item
		for c := jobs.OnSuccess; c <= jobs.Always; c++ {
			items = append(items, jobs.Item{Args: ends{"ok"}, Options: []jobs.EnqueueOption{jobs.After(parent, c)}})
		}
		for _, how := range []string{"one", "many", "tx"} {
			var placed []jobs.EnqueueResult
			var err error
			switch how {
			case "one":
				for _, item := range items {
					placed = append(placed, enqueue(t, r.Client, item.Args, item.Options...))
				}
			case "many":
				placed, err = r.EnqueueMany(t.Context(), items)
			case "tx":
				err = r.db.Tx(t.Context(), func(tx *sqlx.Tx) (err error) {
					placed, err = r.EnqueueManyTx(t.Context(), tx, items)
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			ids := make([]int64, 3)
			for i, p := range placed {
				ids[i] = p.ID
				if want := map[store.State]store.State{store.Succeeded: store.Enqueued}[e.want[i]]; want != 0 && p.State != want || want == 0 && p.State != e.want[i] {
					t.Errorf("%s, %s, %d: enqueued as %s", e.as, how, i, p.State)
				}
			}
			r.wantFamily(parent, e.word, ids, e.want)
		}
	}
}

// Row 87: a parent has any number of continuations, in whatever way it ends.
func TestConformance_87_SecondContinuationIsAppended(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	for _, e := range endings {
		var parent jobs.EnqueueResult
		var all [2][]int64
		err := r.db.Tx(t.Context(), func(tx *sqlx.Tx) (err error) { // with the parent in one transaction
			parent, err = r.EnqueueTx(t.Context(), tx, ends{e.as}, exceeding(e.as)...)
			for i := range all {
				for c := jobs.OnSuccess; c <= jobs.Always && err == nil; c++ {
					var child jobs.EnqueueResult
					child, err = r.EnqueueTx(t.Context(), tx, ends{"ok"}, jobs.After(parent.ID, c))
					same(t, store.Awaiting, child.State)
					all[i] = append(all[i], child.ID)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r.waitFor(parent.ID, e.state)
		for _, ids := range all {
			r.wantFamily(parent.ID, e.word, ids, e.want)
		}
	}
}

// Row 88: a continuation that is no longer awaiting is passed over: a person ran
// it or deleted it, and the parent's end changes nothing.
func TestConformance_88_NotAwaitingIsSkipped(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	parent := r.put(ends{"ok"}, jobs.Queue("elsewhere"))
	ran, gone, back := r.put(ends{"ok"}, jobs.After(parent, jobs.OnSuccess)), r.put(ends{"ok"}, jobs.After(parent, jobs.OnSuccess)), r.put(ends{"ok"}, jobs.After(parent, jobs.OnFailure))
	move := func(do func() ([]jobs.Moved, error)) {
		t.Helper()
		if m, err := do(); err != nil || m[0].Err != nil {
			t.Fatal(m, err)
		}
	}
	move(func() ([]jobs.Moved, error) {
		return r.Requeue(t.Context(), "ann", jobs.KeepRetries, jobs.Target{ID: ran, Expected: jobs.Awaiting})
	})
	for _, id := range []int64{gone, back} {
		move(func() ([]jobs.Moved, error) {
			return r.Delete(t.Context(), "ann", jobs.Target{ID: id, Expected: jobs.Awaiting})
		})
	}
	move(func() ([]jobs.Moved, error) {
		return r.Restore(t.Context(), "ann", jobs.Target{ID: back, Expected: jobs.Deleted})
	})
	r2 := startOn(t, r.db, quickly(), on(ending, jobs.OnQueue("elsewhere")))
	r.waitFor(parent, store.Succeeded)
	r2.stop()
	waits := fmt.Sprintf("awaiting: Waits for job %d to ", parent)
	same(t, []string{waits + "succeed", "enqueued: Requeued by ann", "processing", "succeeded"}, told(r.waitFor(ran, store.Succeeded)))
	same(t, []string{waits + "succeed", "deleted: Deleted by ann"}, told(r.waitFor(gone, store.Deleted)))
	same(t, []string{waits + "fail", "deleted: Deleted by ann", "enqueued: Restored by ann", "processing", "succeeded"}, told(r.waitFor(back, store.Succeeded)))
}

// Row 89: what its parent became cannot be read, because its rows are gone: the
// continuation is decided all the same, with that reason.
func TestConformance_89_ParentGone(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	parent := r.put(ends{"ok"}, jobs.In(time.Hour))
	var ids []int64
	for c := jobs.OnSuccess; c <= jobs.Always; c++ {
		ids = append(ids, r.put(ends{"ok"}, jobs.After(parent, c)))
	}
	err := r.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		for _, from := range []string{"jobs where id", "scheduled where job_id", "history where job_id"} {
			if _, err := tx.Exec(`delete from tekrar.`+from+` = $1`, parent); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := fmt.Sprintf("Parent %d is gone", parent)
	same(t, "deleted: "+gone+"; it waited for a success", told(r.waitFor(ids[0], store.Deleted))[1])
	same(t, "deleted: "+gone+"; it waited for a failure", told(r.waitFor(ids[1], store.Deleted))[1])
	same(t, "enqueued: "+gone, told(r.waitFor(ids[2], store.Succeeded))[1])
}

// Row 90 is in package store: TestRetentionLeavesNobodyWaiting_90. Here: what is
// deleted in vain ends the waits for it too, down a chain.
func TestConformance_90_NoEndlessWait(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(ending))
	parent := r.put(ends{"ok"}, jobs.Queue("elsewhere"))
	vain := r.put(ends{"ok"}, jobs.After(parent, jobs.OnFailure))
	var chain []int64
	for last := vain; len(chain) < 5; chain = append(chain, last) {
		last = r.put(ends{"ok"}, jobs.After(last, jobs.Always))
	}
	r2 := startOn(t, r.db, quickly(), on(ending, jobs.OnQueue("elsewhere")))
	defer r2.stop()
	r.waitFor(vain, store.Deleted)
	for _, id := range chain {
		r.waitFor(id, store.Succeeded)
	}
	same(t, 0, ask[int](t, r.db, `select count(*) from tekrar.awaiting`))
}
