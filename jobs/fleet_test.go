package jobs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Two servers share 2,000 jobs; each job runs exactly once.
func TestTwoServersRunEachJobOnce(t *testing.T) {
	t.Parallel()
	const n = 2000
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	var runs [n]atomic.Int32
	var finished atomic.Int32
	shares := [2]atomic.Int32{}
	handle := func(server int) func(*jobs.Client) {
		return on(func(_ context.Context, j *jobs.Job[task]) error {
			runs[j.Args.N].Add(1)
			shares[server].Add(1)
			finished.Add(1)
			return nil
		})
	}
	cfg := quickly()
	cfg.Lease = 20 * time.Second // a busy machine must not look like a lost server
	one := startOn(t, db, cfg, handle(0))
	defer one.stop()
	two := startOn(t, storetest.Open(t, dsn, store.Options{}), cfg, handle(1))
	defer two.stop()
	eventually(t, "both servers are live", func() bool { return live(t, db) == 2 })
	for i := 0; i < n; i += 100 {
		if _, err := one.EnqueueMany(t.Context(), tasks(n)[i:i+100]); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all have run", func() bool { return finished.Load() >= n })
	one.stop()
	two.stop()
	for i := range runs {
		if got := runs[i].Load(); got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	same(t, n, ask[int](t, db, `select count(*) from tekrar.history where state = 4 and attempt = 1`))
	if shares[0].Load() == 0 || shares[1].Load() == 0 {
		t.Errorf("one server did everything: %d and %d", shares[0].Load(), shares[1].Load())
	}
	check(t, db)
}

// A queue's own limit holds while another queue uses the rest of the slots.
func TestQueueLimitsHold(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.Workers, cfg.Queues = 6, map[string]int{"narrow": 2, "wide": 0}
	var running, most sync.Map // queue -> *atomic.Int64
	count := func(m *sync.Map, q string) *atomic.Int64 {
		n, _ := m.LoadOrStore(q, new(atomic.Int64))
		return n.(*atomic.Int64)
	}
	r := start(t, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		now := count(&running, j.Queue).Add(1)
		for {
			m := count(&most, j.Queue)
			if old := m.Load(); now <= old || m.CompareAndSwap(old, now) {
				break
			}
		}
		time.Sleep(2 * time.Millisecond) // the work
		count(&running, j.Queue).Add(-1)
		return nil
	}))
	for _, queue := range []string{"narrow", "wide"} {
		items := tasks(150)
		for i := range items {
			items[i].Options = []jobs.EnqueueOption{jobs.Queue(queue)}
		}
		if _, err := r.EnqueueMany(t.Context(), items); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all have run", func() bool {
		return ask[int](t, r.db, `select count(*) from tekrar.history where state = 4`) == 300
	})
	if got := count(&most, "narrow").Load(); got > 2 {
		t.Errorf("%d jobs of the queue with a limit of 2 ran at once", got)
	}
	if got := count(&most, "wide").Load(); got < 2 || got > 6 {
		t.Errorf("%d jobs of the other queue ran at once, with 6 slots", got)
	}
}

// A paused queue rests while others go on, until it is resumed. A queue that the
// server does not name is left alone.
func TestPausedAndForeignQueues(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, nothing, jobs.OnQueue("mail"))
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil })
	})
	if err := r.PauseQueue(t.Context(), "ada", "mail"); err != nil {
		t.Fatal(err)
	}
	paused, foreign := r.put(task{}), r.put(greet{}, jobs.Queue("Default"))
	r.waitFor(r.put(greet{}), store.Succeeded)
	same(t, store.Enqueued, r.detail(paused).State)
	if err := r.ResumeQueue(t.Context(), "ada", "mail"); err != nil {
		t.Fatal(err)
	}
	r.waitFor(paused, store.Succeeded)
	same(t, store.Enqueued, r.detail(foreign).State)
}
