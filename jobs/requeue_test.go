package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

func (r *running) requeue(b jobs.Budget, id int64, seen store.State) {
	r.t.Helper()
	moved, err := r.Requeue(context.Background(), "ada", b, jobs.Target{ID: id, Expected: seen})
	if err != nil || moved[0].Err != nil {
		r.t.Fatalf("requeue: %+v, %v", moved, err)
	}
}

// A person's requeue of an exhausted job is one run, or a whole budget, as asked.
func TestRequeueBudgets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget jobs.Budget
		want   []string
	}{
		"run once":     {jobs.KeepRetries, []string{"enqueued: Requeued by ada", "processing", "failed: An error occurred during attempt 3"}},
		"fresh budget": {jobs.FreshBudget, []string{"enqueued: Requeued by ada", "processing", "failed: An error occurred during attempt 3", "enqueued: Retry attempt 1 of 1: out of paper", "processing", "failed: An error occurred during attempt 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, quickly(), on(func(context.Context, *jobs.Job[task]) error { return errPaper },
				jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{0}})))
			id := r.put(task{})
			before := told(r.waitFor(id, store.Failed))
			r.requeue(c.budget, id, store.Failed)
			var d store.JobDetail
			eventually(t, "it failed again", func() bool {
				d = r.detail(id)
				return d.State == store.Failed && len(d.History) == len(before)+len(c.want)
			})
			same(t, c.want, told(d)[len(before):])
		})
	}
}

// Every state but processing can be requeued; deleted jobs can be restored.
func TestRequeueAndRestoreFromEveryState(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(nothing))
	id := r.put(task{}, jobs.In(time.Hour))
	r.requeue(jobs.KeepRetries, id, store.Scheduled)
	r.waitFor(id, store.Succeeded)
	r.requeue(jobs.KeepRetries, id, store.Succeeded)
	eventually(t, "it ran twice", func() bool { return r.detail(id).Attempt == 2 && r.detail(id).State == store.Succeeded })
	moved, err := r.Delete(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Succeeded})
	if err != nil || moved[0].Err != nil {
		t.Fatal(moved, err)
	}
	moved, err = r.Restore(t.Context(), "bob", jobs.Target{ID: id, Expected: store.Deleted})
	if err != nil || moved[0].Err != nil {
		t.Fatal(moved, err)
	}
	d := r.waitFor(id, store.Succeeded)
	same(t, []string{
		"scheduled", "enqueued: Requeued by ada", "processing", "succeeded",
		"enqueued: Requeued by ada", "processing", "succeeded",
		"deleted: Deleted by ada", "enqueued: Restored by bob", "processing", "succeeded",
	}, told(d))
}

// RTY-04: of twenty requests to requeue one failed job one is granted.
func TestRTY04DoubleClick(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Attempt == 1 {
			return errPaper
		}
		return nil
	}, jobs.Retry(jobs.NoRetry())))
	id := r.put(task{})
	r.waitFor(id, store.Failed)
	const clicks = 20
	granted := make(chan bool, clicks)
	for range clicks {
		go func() {
			moved, err := r.Requeue(context.Background(), "ada", jobs.KeepRetries, jobs.Target{ID: id, Expected: store.Failed})
			if err != nil {
				t.Error(err)
			}
			granted <- err == nil && moved[0].Err == nil
		}()
	}
	n := 0
	for range clicks {
		if <-granted {
			n++
		}
	}
	same(t, 1, n)
	d := r.waitFor(id, store.Succeeded)
	same(t, 2, d.Attempt)
	same(t, 6, len(d.History))
}
