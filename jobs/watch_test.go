package jobs_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A client in another process watches: it hears of each job that changes, whether
// an engine or a person moved it, and its channel closes with its context.
func TestWatchAcrossClients(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(nothing))
	r.listens()
	dashboard := newClient(t, r.db, quickly())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes := dashboard.Watch(ctx)
	hears := func(what string, act func() int64) {
		t.Helper()
		limit := time.After(30 * time.Second)
		for again := time.NewTicker(200 * time.Millisecond); ; {
			id := act() // the first ones may come before the engine knows of the watcher
			for waiting := true; waiting; {
				select {
				case c := <-changes:
					if c.All || slices.Contains(c.IDs, id) {
						again.Stop()
						return
					}
				case <-again.C:
					waiting = false
				case <-limit:
					t.Fatalf("no hint of %s within 30 s", what)
				}
			}
		}
	}
	hears("a job that ran", func() int64 { return r.put(task{}) })
	hears("a job that a person deleted", func() int64 {
		id := r.put(task{}, jobs.In(time.Hour))
		if _, err := dashboard.Delete(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Scheduled}); err != nil {
			t.Fatal(err)
		}
		return id
	})
	cancel()
	eventually(t, "the channel is closed", func() bool {
		select {
		case _, open := <-changes:
			return !open
		default:
			return false
		}
	})
}

// Without LISTEN there are no hints, but the channel still closes.
func TestWatchPollOnly(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.PollOnly = true
	c := newClient(t, storetest.New(t), cfg)
	ctx, cancel := context.WithCancel(t.Context())
	changes := c.Watch(ctx)
	cancel()
	for range changes {
		t.Error("a hint without LISTEN")
	}
}
