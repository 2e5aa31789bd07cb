package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// listening collects hints; each test waits for the one it wants.
func listening[T any](e *engine, listen func(context.Context, func(bool), func(T))) (next func(what string) T, up chan bool) {
	e.Helper()
	storetest.NeedsListen(e)
	ctx, cancel := context.WithCancel(e.ctx)
	hints, done := make(chan T, 100), make(chan struct{})
	up = make(chan bool, 100)
	go func() {
		defer close(done)
		listen(ctx, func(is bool) { up <- is }, func(h T) { hints <- h })
	}()
	e.Cleanup(func() { cancel(); <-done })
	return func(what string) (h T) {
		e.Helper()
		select {
		case h = <-hints:
		case <-time.After(30 * time.Second):
			e.Fatalf("no hint: %s", what)
		}
		return h
	}, up
}

// jobHints listens as engines do, and returns once it hears.
func (e *engine) jobHints() (next func(string) store.JobsHint, up chan bool) {
	e.Helper()
	next, up = listening(e, e.db.ListenJobs)
	e.hears(func() {
		if err := e.db.NotifyWatching(e.ctx); err != nil {
			e.Fatal(err)
		}
	})
	for h := next("watching"); h != (store.JobsHint{Watching: true}); h = next("watching") {
		e.Errorf("got %+v", h)
	}
	return next, up
}

// hears waits until the server has a listener, then sends.
func (e *engine) hears(send func()) {
	e.Helper()
	until(e.T, "a listener", func() bool {
		return e.count(`select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`) > 0
	})
	send()
}

func TestListenJobsHearsEnqueueAndDelete(t *testing.T) {
	e := writeSetup(t)
	next, _ := e.jobHints()
	want := func(what string, want ...store.JobsHint) {
		t.Helper()
		for range want {
			if h := next(what); !slices.Contains(want, h) {
				t.Errorf("%s: %+v, want one of %+v", what, h, want)
			}
		}
	}
	if _, err := e.db.Enqueue(e.ctx, []store.NewJob{{Queue: "default", Kind: "k", Args: "{}"}}, []string{"default", "o'neil"}); err != nil {
		t.Fatal(err)
	}
	want("enqueue", store.JobsHint{Queue: "default"}, store.JobsHint{Queue: "o'neil"})
	c := e.claim(1)[0]
	for _, expected := range []store.State{store.Enqueued, store.Processing} { // the first changes nothing and says nothing
		if _, err := e.db.Delete(e.ctx, "ann", []store.Target{{ID: c.ID, Expected: expected}}); err != nil {
			t.Fatal(err)
		}
	}
	want("delete of a running job", store.JobsHint{Taken: true})
	if _, err := e.db.Restore(e.ctx, "ann", []store.Target{{ID: c.ID, Expected: store.Deleted}}); err != nil {
		t.Fatal(err)
	}
	want("restore", store.JobsHint{Queue: "default"})
	if err := e.db.ResumeQueue(e.ctx, "ann", "other"); err != nil {
		t.Fatal(err)
	}
	want("resume", store.JobsHint{Queue: "other"})
}

// UNQ-12: a transaction's notification comes with its commit, none with a rollback.
func TestListenJobsHearsATransactionWhenItCommits_UNQ12(t *testing.T) {
	e := writeSetup(t)
	next, _ := e.jobHints()
	enqueue := func(queue string, end func(*sqlx.Tx) error) {
		tx, err := e.db.Beginx()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.db.EnqueueIn(e.ctx, tx, []store.NewJob{{Queue: queue, Kind: "k", Args: "{}"}}, []string{queue}); err != nil {
			t.Fatal(err)
		}
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
	}
	enqueue("rolled back", (*sqlx.Tx).Rollback)
	enqueue("committed", (*sqlx.Tx).Commit)
	if h := next("commit"); h != (store.JobsHint{Queue: "committed"}) {
		t.Errorf("%+v", h)
	}
}

func TestListenChangesReadsIDs(t *testing.T) {
	e := writeSetup(t)
	next, _ := listening(e, e.db.ListenChanges)
	long := strings.Repeat("1234567890123456789,", 399) + "9"
	e.hears(func() {
		for _, payload := range []string{"1", "2,9223372036854775807", "*", long} {
			if err := e.db.NotifyChanges(e.ctx, payload); err != nil {
				t.Fatal(err)
			}
		}
	})
	if c := next("one id"); c.All || !slices.Equal(c.IDs, []int64{1}) {
		t.Errorf("%+v", c)
	}
	if c := next("two ids"); c.All || !slices.Equal(c.IDs, []int64{2, 9223372036854775807}) {
		t.Errorf("%+v", c)
	}
	if c := next("many"); !c.All || len(c.IDs) != 0 {
		t.Errorf("%+v", c)
	}
	if c := next("a long list"); c.All || len(c.IDs) != 400 {
		t.Errorf("%d ids", len(c.IDs))
	}
	if err := e.db.NotifyChanges(e.ctx, strings.Repeat("1", 8000)); err == nil || !store.IsData(err) {
		t.Errorf("a payload of 8,000 bytes: %v", err)
	}
}

// DBX-01: a listener that lost its connection comes back, says "look now", and
// hears again.
func TestListenerThatWasCutOffSaysLookNow_DBX01(t *testing.T) {
	e := writeSetup(t)
	next, up := e.jobHints()
	if !<-up {
		t.Error("not up at first")
	}
	if n := e.count(`select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`); n != 1 {
		t.Fatalf("%d listeners", n)
	}
	if h := next("the empty hint"); h != (store.JobsHint{}) {
		t.Errorf("after the cut: %+v", h)
	}
	if down, again := <-up, <-up; down || !again {
		t.Errorf("up went %v, %v", down, again)
	}
	if err := e.db.NotifyQueues(e.ctx, []string{"default"}); err != nil {
		t.Fatal(err)
	}
	if h := next("enqueue"); h != (store.JobsHint{Queue: "default"}) {
		t.Errorf("%+v", h)
	}
}

// A channel's name has at most 63 bytes; two long schemas don't share one.
func TestChannelsOfLongSchemas(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, schema := range []string{"tekrar", strings.Repeat("x", 55), strings.Repeat("x", 56), strings.Repeat("x", 62) + "a", strings.Repeat("x", 62) + "b"} {
		for _, name := range store.Channels(storetest.Open(t, "host=nowhere", store.Options{Schema: schema})) {
			if len(name) > 63 || seen[name] {
				t.Errorf("schema %s: channel %s", schema, name)
			}
			seen[name] = true
		}
	}
}
