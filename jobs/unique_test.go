package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func enqueue(t *testing.T, c *jobs.Client, args jobs.Args, opts ...jobs.EnqueueOption) jobs.EnqueueResult {
	t.Helper()
	r, err := c.Enqueue(context.Background(), args, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// UNQ-01, oban#1087: one of five transactions with the same key commits, and
// each of the others had to wait to learn that.
func TestUniqueSurvivesRollbackOfTheFirst_UNQ01(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	key := jobs.Unique("K", jobs.UntilFinished)
	first, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.EnqueueTx(t.Context(), first, greet{}, key); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	results := make([]jobs.EnqueueResult, 4)
	for i := range results {
		all.Go(func() {
			err := db.Tx(context.Background(), func(tx *sqlx.Tx) (err error) {
				results[i], err = c.EnqueueTx(context.Background(), tx, greet{}, key)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "four transactions wait for the key", func() bool {
		var n int
		err := db.Get(&n, `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
		return err == nil && n == 4
	})
	if err := first.Rollback(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	stored := 0
	for _, r := range results {
		if !r.Duplicate {
			stored++
		}
		if r.ID != results[0].ID {
			t.Errorf("two jobs under one key: %d and %d", r.ID, results[0].ID)
		}
	}
	if n, err := db.CountJobs(t.Context(), store.JobFilter{State: store.Enqueued}); stored != 1 || err != nil || n.N != 1 {
		t.Errorf("%d stored, %d there (%v): want 1", stored, n.N, err)
	}
}

// ARG-14: the result for a duplicate has the first job's id and state.
func TestUniqueScopes_ARG14_UNQ04_UNQ05(t *testing.T) {
	t.Parallel()
	release := make(chan error)
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(ctx context.Context, _ *jobs.Job[greet]) error { return <-release },
			jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{time.Hour}}))
	})
	waiting, finished := jobs.Unique("w", jobs.WhileWaiting), jobs.Unique("f", jobs.UntilFinished)
	w, f := enqueue(t, r.Client, greet{}, waiting, jobs.In(time.Hour)), enqueue(t, r.Client, greet{}, finished)
	if again := enqueue(t, r.Client, greet{}, waiting); !again.Duplicate || again.ID != w.ID || again.State != store.Scheduled {
		t.Errorf("second job while the first waits: %+v", again)
	}
	r.waitFor(f.ID, store.Processing)
	if again := enqueue(t, r.Client, greet{}, finished); !again.Duplicate || again.ID != f.ID || again.State != store.Processing {
		t.Errorf("second job while the first runs: %+v", again)
	}
	release <- errors.New("once") // UNQ-04: its own retry is no conflict
	r.waitFor(f.ID, store.Scheduled)
	if again := enqueue(t, r.Client, greet{}, finished); !again.Duplicate {
		t.Errorf("second job while the first waits for its retry: %+v", again)
	}
	if _, err := r.Requeue(t.Context(), "test", jobs.KeepRetries, jobs.Target{ID: f.ID, Expected: store.Scheduled}); err != nil {
		t.Fatal(err)
	}
	release <- nil
	r.waitFor(f.ID, store.Succeeded)
	next := enqueue(t, r.Client, greet{}, finished)
	if next.Duplicate {
		t.Errorf("the key is not free after the final state: %+v", next)
	}
	release <- nil
	r.waitFor(next.ID, store.Succeeded)
	if n, err := r.db.ReleaseKeys(t.Context()); err != nil || n != 1 {
		t.Errorf("released %d keys (%v): want 1, the finished one", n, err)
	}
}

func TestUniqueForAPeriod(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	first := enqueue(t, c, greet{}, jobs.Unique("p", jobs.For(time.Hour)))
	if _, err := c.Delete(t.Context(), "test", jobs.Target{ID: first.ID, Expected: store.Enqueued}); err != nil {
		t.Fatal(err)
	}
	if again := enqueue(t, c, greet{}, jobs.Unique("p", jobs.For(time.Hour))); !again.Duplicate || again.State != store.Deleted {
		t.Errorf("within the period: %+v", again)
	}
	if short := enqueue(t, c, greet{}, jobs.Unique("q", jobs.For(time.Millisecond))); short.Duplicate {
		t.Error("another key")
	}
	eventually(t, "the period is over", func() bool { return !enqueue(t, c, greet{}, jobs.Unique("q", jobs.For(time.Millisecond))).Duplicate })
	check(t, db)
}

type anyArgs map[string]any

func (anyArgs) Kind() string { return "any" }

// UNQ-03: order of members does not matter, 1 and 1.0 are two keys, and distinct
// args never share one.
func TestUniqueArgs_UNQ03(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	raw := func(args string) jobs.EnqueueResult {
		r, err := c.EnqueueRaw(t.Context(), "raw", []byte(args), jobs.UniqueArgs(jobs.UntilFinished))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if a, b := raw(`{"a":1,"b":{"c":2,"d":3}}`), raw(`{"b":{"d":3,"c":2},"a":1}`); !b.Duplicate || a.ID != b.ID {
		t.Errorf("order of members: %+v and %+v", a, b)
	}
	if raw(`{"a":1.0,"b":{"c":2,"d":3}}`).Duplicate {
		t.Error("1 and 1.0 share a key")
	}
	items := make([]jobs.Item, 2000)
	for i := range items {
		items[i] = jobs.Item{Args: anyArgs{"n": i, "s": strings.Repeat("x", i%7)}, Options: []jobs.EnqueueOption{jobs.UniqueArgs(jobs.UntilFinished)}}
	}
	rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	results, err := c.EnqueueMany(t.Context(), append(items, items[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results[:2000] {
		if r.Duplicate {
			t.Fatalf("collision at %d", i)
		}
	}
	if last := results[2000]; !last.Duplicate || last.ID != results[0].ID {
		t.Errorf("twice in one call: %+v, first %+v", last, results[0])
	}
}

// UNQ-10: odd keys are hashed, or refused with the field and the limit.
func TestUniqueKeysOfAllSizes_UNQ10(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	for _, key := range []string{strings.Repeat("k", 255), strings.Repeat("ü", 1000), "📚", "a\x00b"} {
		if a, b := enqueue(t, c, greet{}, jobs.Unique(key, jobs.UntilFinished)), enqueue(t, c, greet{}, jobs.Unique(key, jobs.UntilFinished)); a.Duplicate || !b.Duplicate {
			t.Errorf("key of %d bytes: %+v, %+v", len(key), a, b)
		}
	}
	for _, key := range []string{"", strings.Repeat("k", 1001), strings.Repeat("k", 8000), "\xff"} {
		_, err := c.Enqueue(t.Context(), greet{}, jobs.Unique(key, jobs.UntilFinished))
		var input *jobs.InputError
		if !errors.As(err, &input) || input.Field != "unique key" {
			t.Errorf("key of %d bytes: %v", len(key), err)
		}
	}
	if _, err := c.Enqueue(t.Context(), greet{}, jobs.Unique("k", jobs.UniqueScope{})); err == nil {
		t.Error("no scope is accepted")
	}
}

func TestTagsAreStored(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	r := enqueue(t, c, greet{}, jobs.Tags("urgent", `odd "tag", {x}`), jobs.Tags("third"))
	var tags string
	if err := db.Get(&tags, `select array_to_string(tags, '|') from tekrar.jobs where id = $1`, r.ID); err != nil || tags != `urgent|odd "tag", {x}|third` {
		t.Errorf("tags %q, %v", tags, err)
	}
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, tags := range [][]string{many, {""}, {strings.Repeat("t", 101)}} {
		if _, err := c.Enqueue(t.Context(), greet{}, jobs.Tags(tags...)); err == nil {
			t.Errorf("%d tags accepted", len(tags))
		}
	}
}
