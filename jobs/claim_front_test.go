package jobs_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Looks beside the claims stand for scans from the start: they find what commits with an
// earlier time than what was claimed since, and claims go on while one of them hangs.
func TestLooksBesideTheClaims(t *testing.T) {
	t.Parallel()
	ran := make(chan int, 100)
	hang, hanging, resume := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(resume) })
	r := start(t, quickly(), func(c *jobs.Client) {
		on(func(_ context.Context, j *jobs.Job[task]) error { ran <- j.Args.N; return nil })(c)
		jobs.LookBeside(c, func() {
			select {
			case <-hang:
				close(hanging)
				<-resume
			default:
			}
		})
	})
	t.Cleanup(goOn) // before the engine has to stop
	runs := func(n int) {
		t.Helper()
		r.put(task{N: n})
		same(t, n, <-ran)
	}
	runs(1)

	tx, err := r.db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := r.EnqueueTx(t.Context(), tx, task{N: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`update tekrar.ready set ready_at = ready_at - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	runs(3)
	hang <- struct{}{}
	<-hanging
	runs(4)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	runs(5) // claims still begin where the cursors are
	select {
	case n := <-ran:
		t.Errorf("job %d ran before any look could find it", n)
	default:
	}
	goOn()
	same(t, 2, <-ran)
}

// A kind with a limit over all servers is claimed apart: that its newest job was taken
// says nothing about the older ones of other kinds in the same lane.
func TestLimitedKindsLeaveTheCursorsOfOthers(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	const many, some = 30, 5
	items := make([]jobs.Item, many, many+some)
	for i := range items {
		items[i] = jobs.Item{Args: greet{}}
	}
	c := newClient(t, db, quickly())
	if _, err := c.EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`update tekrar.ready set ready_at = ready_at - interval '1 hour'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range some {
		if _, err := c.Enqueue(t.Context(), scarce{i}); err != nil {
			t.Fatal(err)
		}
	}
	cfg, resume := quickly(), make(chan struct{})
	cfg.Workers = 2
	var few, free gauge
	r := startOn(t, db, cfg, func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[scarce]) error { few.run(0); return nil }, jobs.AtMost(2))
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { free.run(0); return nil })
		jobs.LookBeside(c, func() { <-resume }) // nothing but the cursors leads to a job
	})
	defer r.stop()
	defer close(resume)
	eventually(t, "all jobs have run", func() bool { return few.done.Load() == some && free.done.Load() == many })
}

// A claim whose answer was lost can commit after the look that followed it. What the
// server holds then and does not know of is run all the same.
func TestJobsOfALateClaimAreAdopted(t *testing.T) {
	t.Parallel()
	ran := make(chan int64, 10)
	r := start(t, quickly(), func(c *jobs.Client) {
		on(func(_ context.Context, j *jobs.Job[task]) error { ran <- j.ID; return nil })(c)
		jobs.LookBeside(c, func() {})
	})
	first := r.put(task{})
	same(t, first, <-ran)
	late := r.put(task{}, jobs.Queue("elsewhere"))
	err := r.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`with taken as (delete from tekrar.ready where job_id = $1 returning *), claimed as (
	insert into tekrar.running (job_id, server, attempt, queue, kind)
	select job_id, (select id from tekrar.servers), 1, queue, kind from taken returning *)
insert into tekrar.history (job_id, attempt, state, server, queue, kind) select job_id, attempt, 3, server, queue, kind from claimed`, late)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, late, <-ran)
	r.waitFor(late, store.Succeeded)
}
