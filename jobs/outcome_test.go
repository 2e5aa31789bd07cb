package jobs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// EXE-08: a run that takes too long fails and says so, unless the work was done.
func TestTimeoutIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(ctx context.Context, j *jobs.Job[task]) error {
			<-ctx.Done()
			if j.Args.N == 1 {
				return nil
			}
			return ctx.Err()
		}, jobs.Timeout(time.Hour), jobs.Retry(jobs.NoRetry()))
	})
	short := jobs.WithTimeout(150 * time.Millisecond) // the job's own comes before the kind's
	f := failures(t, r.waitFor(r.put(task{}, short), store.Failed))
	same(t, "timed out after 150ms", f[0].Error)
	r.waitFor(r.put(task{N: 1}, short), store.Succeeded)
}

// What a handler asks for by its error. EXE-07: Cancel without a reason too.
func TestEXE07HandlersRule(t *testing.T) {
	t.Parallel()
	results := map[int]error{
		1: jobs.Permanent(errPaper), 2: jobs.Cancel(nil), 3: jobs.Cancel(errPaper), 4: jobs.RetryAfter(errPaper, 300*time.Millisecond),
	}
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Attempt > 1 {
			return nil
		}
		return results[j.Args.N]
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{time.Hour}, OnExceeded: jobs.Delete})))
	for n, want := range map[int][]string{
		1: {"enqueued", "processing", "failed: An error occurred during attempt 1"},
		2: {"enqueued", "processing", "deleted: Cancelled by its handler"},
		3: {"enqueued", "processing", "deleted: Cancelled by its handler: out of paper"},
		4: {"enqueued", "processing", "failed: An error occurred during attempt 1", "scheduled: Retry attempt 1 of 3: out of paper",
			"enqueued: Triggered by scheduler", "processing", "succeeded"},
	} {
		id := r.put(task{N: n})
		state := map[int]store.State{1: store.Failed, 2: store.Deleted, 3: store.Deleted, 4: store.Succeeded}[n]
		d := r.waitFor(id, state)
		same(t, want, told(d))
		if n == 4 {
			if wait := d.History[2].At.Sub(d.History[3].At); wait < 300*time.Millisecond || wait > 10*time.Second {
				t.Errorf("RetryAfter(300ms) waited %v", wait)
			}
		}
	}
}

// RTY-09: OnExceeded Delete ends in deleted, with its history.
func TestRTY09ExceededDeletes(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(context.Context, *jobs.Job[task]) error { return errPaper },
		jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{0}, OnExceeded: jobs.Delete})))
	d := r.waitFor(r.put(task{}), store.Deleted)
	same(t, []string{
		"enqueued", "processing", "failed: An error occurred during attempt 1", "enqueued: Retry attempt 1 of 1: out of paper",
		"processing", "failed: An error occurred during attempt 2", "deleted: Exceeded the maximum number of retries",
	}, told(d))
	same(t, 0, ask[int](t, r.db, `select count(*) from tekrar.failed`))
}

// EXE-03: a kind that nobody handles stays enqueued and keeps nobody else waiting;
// whoever handles it runs it at attempt 1.
func TestEXE03UnknownKindStaysEnqueued(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(context.Context, *jobs.Job[greet]) error { return nil }))
	strangers := make([]jobs.Item, 100)
	for i := range strangers {
		strangers[i].Args = task{N: i}
	}
	placed, err := r.EnqueueMany(t.Context(), strangers)
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(r.put(greet{}), store.Succeeded)
	same(t, 100, ask[int](t, r.db, `select count(*) from tekrar.ready where kind = 'task' and attempt = 0`))

	attempts := make(chan int, 200)
	other := startOn(t, r.db, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error { attempts <- j.Attempt; return nil }))
	defer other.stop()
	for range placed {
		same(t, 1, <-attempts)
	}
	r.waitFor(placed[99].ID, store.Succeeded)
	same(t, 0, len(attempts))
}

// A job's own policy comes before its kind's.
func TestJobsOwnPolicy(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(context.Context, *jobs.Job[task]) error { return errors.Join(errPaper) },
		jobs.Retry(jobs.RetryPolicy{MaxRetries: 9, Delays: []time.Duration{time.Hour}})))
	id := r.put(task{}, jobs.WithRetry(jobs.RetryPolicy{MaxRetries: 2, Delays: []time.Duration{0}}))
	d := r.waitFor(id, store.Failed)
	same(t, 3, d.Attempt)
	same(t, "job", d.PolicyFrom)
	if f := failures(t, d); !strings.Contains(f[2].Rule, "2 of 2") {
		t.Errorf("rule %q", f[2].Rule)
	}
}
