package jobs_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A worker is killed in the middle of a job: another server takes the job over
// within the lease and one sweep, and it runs exactly once more.
func TestLSE01KilledServersJobIsReclaimed(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	doomed := spawn(t, dsn, "doomed")
	runs := make(chan int, 10)
	idle := newClient(t, db, worker())
	placed, err := idle.Enqueue(t.Context(), task{})
	if err != nil {
		t.Fatal(err)
	}
	doomed.line("started")
	r := startOn(t, db, worker(), on(func(_ context.Context, j *jobs.Job[task]) error { runs <- j.Attempt; return nil }))
	defer r.stop()
	eventually(t, "two servers are live", func() bool { return live(t, db) == 2 })

	doomed.signal(syscall.SIGKILL)
	doomed.wait()
	d := r.waitFor(placed.ID, store.Succeeded)
	same(t, []string{"enqueued", "processing", "enqueued: Server doomed lost", "processing", "succeeded"}, told(d))
	same(t, 2, <-runs)

	lost := ask[time.Time](t, db, `select lease_until from tekrar.servers where name = 'doomed'`)
	after := d.History[2].At.Sub(lost)
	if after < 0 || after > worker().Sweep+2*time.Second { // 2 s for a busy machine
		t.Errorf("reclaimed %v after the end of the lease; want 0 to one sweep (%v)", after, worker().Sweep)
	}
	if n := ask[int](t, db, `select count(*) from tekrar.servers where name = 'doomed' and lost_at is not null`); n != 1 {
		t.Error("the killed server is not marked as lost")
	}
	r.stop()
	if len(runs) > 0 {
		t.Errorf("the job ran %d more times", len(runs))
	}
	check(t, db)
}

// A job that ends its process each time is set aside after the loss limit.
func TestLSE06CrashLoopEnds(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	r := startOn(t, db, worker(), on(func(context.Context, *jobs.Job[greet]) error { return nil })) // it only sweeps
	defer r.stop()
	id := r.put(task{})
	for range worker().LossLimit + 1 {
		p := spawn(t, dsn, "crashing", workerCrash+"=1")
		p.line("started")
		same(t, 3, p.wait())
	}
	d := r.waitFor(id, store.Failed)
	same(t, []string{
		"enqueued", "processing", "enqueued: Server crashing lost", "processing", "enqueued: Server crashing lost",
		"processing", "failed: Server crashing lost, lost 3 times",
	}, told(d))
	if d.Losses != 3 || d.Retry != 0 || !strings.Contains(d.ErrorLine, "lost 3 times") {
		t.Errorf("losses %d, retry %d, error %q", d.Losses, d.Retry, d.ErrorLine)
	}
	r.stop()
	check(t, db)
}

// LSE-18: a person's requeue gives a job that was lost too often a run that counts.
func TestLSE18RequeueResetsLosses(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	cfg := worker()
	cfg.LossLimit = -1
	sweeper := startOn(t, db, cfg, on(func(context.Context, *jobs.Job[greet]) error { return nil }))
	defer sweeper.stop()
	id := sweeper.put(task{})
	p := spawn(t, dsn, "crashing", workerCrash+"=1")
	p.wait()
	same(t, 1, sweeper.waitFor(id, store.Failed).Losses)

	r := startOn(t, db, cfg, on(func(context.Context, *jobs.Job[task]) error { return nil }))
	defer r.stop()
	moved, err := r.Requeue(t.Context(), "ada", jobs.KeepRetries, jobs.Target{ID: id, Expected: store.Failed})
	if err != nil || moved[0].Err != nil {
		t.Fatal(moved, err)
	}
	d := r.waitFor(id, store.Succeeded)
	same(t, []string{"enqueued", "processing", "failed: Server crashing lost, lost 1 times",
		"enqueued: Requeued by ada", "processing", "succeeded"}, told(d))
	r.stop()
	sweeper.stop()
	check(t, db)
}
