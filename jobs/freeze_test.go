package jobs_test

import (
	"context"
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A process that stood still for longer than its lease finds its job taken: the
// handler's context ends with ErrLeaseLost, what it returns is kept as late only,
// and the process goes on under a new server row.
func TestLSE12FrozenServerLosesItsJob(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	frozen := spawn(t, dsn, "frozen")
	placed, err := newClient(t, db, worker()).Enqueue(t.Context(), task{})
	if err != nil {
		t.Fatal(err)
	}
	frozen.line("started")
	frozen.signal(syscall.SIGSTOP)
	since := ask[time.Time](t, db, `select clock_timestamp()`)
	r := startOn(t, db, worker(), on(func(context.Context, *jobs.Job[task]) error { return nil }))
	defer r.stop()
	r.waitFor(placed.ID, store.Succeeded)
	eventually(t, "two leases have passed", func() bool {
		return ask[time.Time](t, db, `select clock_timestamp()`).Sub(since) > 2*worker().Lease
	})

	frozen.signal(syscall.SIGCONT)
	same(t, jobs.ErrLeaseLost.Error(), frozen.line("cause"))
	var d store.JobDetail
	eventually(t, "the late result is kept", func() bool {
		d = r.detail(placed.ID)
		return d.History[0].State == store.Late
	})
	same(t, []string{"enqueued", "processing", "enqueued: Server frozen lost", "processing", "succeeded",
		"late: Too late: the job had been taken from this attempt"}, told(d))
	var data struct {
		WouldBe int `json:"would_be"`
	}
	if err := json.Unmarshal(d.History[0].Data, &data); err != nil {
		t.Fatal(err)
	}
	same(t, int(store.Succeeded), data.WouldBe)
	same(t, "frozen", d.History[0].Server)
	eventually(t, "the process registered anew", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.servers where name = 'frozen' and lost_at is null and stopped_at is null`) == 1
	})
	frozen.stdin.Close()
	same(t, 0, frozen.wait())
	r.stop()
	check(t, db)
}

// A server that drains keeps its lease: a long job of it is not run elsewhere.
func TestLSE11LeaseIsRenewedDuringDrain(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	draining := spawn(t, dsn, "draining")
	placed, err := newClient(t, db, worker()).Enqueue(t.Context(), task{})
	if err != nil {
		t.Fatal(err)
	}
	draining.line("started")
	r := startOn(t, db, worker(), on(func(_ context.Context, j *jobs.Job[task]) error {
		t.Errorf("attempt %d ran on the second server", j.Attempt)
		return nil
	}))
	defer r.stop()
	draining.signal(syscall.SIGTERM)
	eventually(t, "the drain lasts longer than two leases", func() bool {
		return ask[bool](t, db, `select coalesce(clock_timestamp() - draining_at > interval '4 seconds', false)
			from tekrar.servers where name = 'draining'`)
	})
	same(t, store.Processing, r.detail(placed.ID).State)
	draining.stdin.Close()
	same(t, 0, draining.wait())
	same(t, []string{"enqueued", "processing", "succeeded"}, told(r.detail(placed.ID)))
	if n := ask[int](t, db, `select count(*) from tekrar.servers where name = 'draining' and stopped_at is not null and lost_at is null`); n != 1 {
		t.Error("the drained server is not marked as stopped")
	}
	r.stop()
	check(t, db)
}
