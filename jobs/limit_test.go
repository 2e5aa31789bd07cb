package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

type scarce struct{ N int }

func (scarce) Kind() string { return "scarce" }

// gauge counts what runs at once over all engines of a test.
type gauge struct{ now, most, done atomic.Int64 }

func (g *gauge) run(d time.Duration) {
	n := g.now.Add(1)
	for {
		most := g.most.Load()
		if n <= most || g.most.CompareAndSwap(most, n) {
			break
		}
	}
	time.Sleep(d) // the work: long enough for an unlimited engine to pile it up
	g.now.Add(-1)
	g.done.Add(1)
}

// A kind's limit holds over three servers, those who wait hold no worker, write
// no history and keep no other kind waiting, and all of them run in the end.
func TestKindLimitHoldsAcrossServers(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var few, free gauge
	cfg := quickly()
	cfg.Workers = 8
	var engines []*running
	for range 3 {
		engines = append(engines, startOn(t, db, cfg, func(c *jobs.Client) {
			jobs.Handle(c, func(context.Context, *jobs.Job[scarce]) error { few.run(20 * time.Millisecond); return nil }, jobs.AtMost(2))
			jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { free.run(time.Millisecond); return nil })
		}))
	}
	const n = 40
	items := make([]jobs.Item, 0, 2*n)
	for i := range n {
		items = append(items, jobs.Item{Args: scarce{i}})
	}
	for range n {
		items = append(items, jobs.Item{Args: greet{}})
	}
	if _, err := engines[0].EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the unlimited kind overtakes", func() bool { return free.done.Load() == n })
	if few.done.Load() == n {
		t.Error("the limited kind was not slower: the limit did nothing")
	}
	eventually(t, "all limited jobs have run", func() bool { return few.done.Load() == n })
	if most := few.most.Load(); most > 2 {
		t.Errorf("%d limited jobs ran at once, the limit is 2", most)
	}
	for _, r := range engines {
		r.stop()
	}
	check(t, db)
	var rows int
	if err := db.Get(&rows, `select count(*) from tekrar.history where kind = 'scarce'`); err != nil || rows != 3*n {
		t.Errorf("%d history rows for %d limited jobs (%v): waiting must write none", rows, n, err)
	}
}

func TestQueueLimitHoldsAcrossServers(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	var g gauge
	cfg := quickly()
	cfg.Queues = map[string]int{"narrow": 0, "default": 0}
	cfg.QueueLimits = map[string]int{"narrow": 3}
	var engines []*running
	for range 2 {
		engines = append(engines, startOn(t, db, cfg, func(c *jobs.Client) {
			jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { g.run(10 * time.Millisecond); return nil })
			jobs.Handle(c, func(context.Context, *jobs.Job[scarce]) error { g.run(10 * time.Millisecond); return nil }, jobs.AtMost(1))
		}))
	}
	items := make([]jobs.Item, 60)
	for i := range items {
		items[i] = jobs.Item{Args: greet{}, Options: []jobs.EnqueueOption{jobs.Queue("narrow")}}
		if i%6 == 0 {
			items[i].Args = scarce{i}
		}
	}
	if _, err := engines[0].EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all have run", func() bool { return g.done.Load() == 60 })
	if most := g.most.Load(); most > 3 || most < 2 {
		t.Errorf("%d jobs of the queue ran at once, the limit is 3", most)
	}
	for _, r := range engines {
		r.stop()
	}
	check(t, db)
}

func TestLimitsOutsideTheirRangeAreRefused(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.QueueLimits = map[string]int{"q": 0}
	if _, err := jobs.New(db, cfg); err == nil {
		t.Error("a queue limit of 0 is accepted")
	}
	c := newClient(t, db, quickly())
	jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil }, jobs.AtMost(-1))
	if err := c.Run(t.Context()); err == nil {
		t.Error("a kind limit of -1 is accepted")
	}
	if n, err := db.CountJobs(t.Context(), store.JobFilter{State: store.Enqueued}); err != nil || n.N != 0 {
		t.Error(n, err)
	}
}
