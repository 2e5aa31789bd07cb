package store_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Rows 91 to 96 of Hangfire's suite: what its monitoring reads.
func TestConformanceMonitoring(t *testing.T) {
	e := writeSetup(t)
	e.row("94 empty storage: all counters 0", func(e *engine) {
		counts, err := e.db.Counts(e.ctx)
		if err != nil {
			e.Fatal(err)
		}
		for _, s := range store.States {
			if c, ok := counts[s]; !ok || c != (store.Count{}) {
				e.Errorf("%s: %v, %v", s, c, ok)
			}
		}
		n, next, err := e.db.Retrying(e.ctx)
		if n != 0 || next != nil || err != nil {
			e.Errorf("retrying: %d, %v, %v", n, next, err)
		}
		queues, err := e.db.Queues(e.ctx)
		if err != nil || len(queues) != 1 || queues[0].Depth != (store.Count{}) || queues[0].Running != 0 || queues[0].Finished != 0 {
			e.Errorf("the one queue of the one server: %+v, %v", queues, err)
		}
	})
	e.row("91 seven daily and 24 hourly points, zero filled", func(e *engine) {
		e.settle(succeeded(e.running()))
		for width, want := range map[time.Duration]int{24 * time.Hour: 7, time.Hour: 24} {
			b, err := e.db.Attempts(e.ctx, time.Duration(want)*width, width, store.AttemptFilter{})
			if err != nil || len(b) != want {
				e.Fatalf("%d points of %s, %v; want %d", len(b), width, err, want)
			}
			for i := range b {
				if i > 0 && b[i].At.Sub(b[i-1].At) != width {
					e.Errorf("point %d is %s after the one before", i, b[i].At.Sub(b[i-1].At))
				}
			}
			if empty := b[0]; empty.FirstOK != 0 || empty.First != 0 {
				e.Errorf("the first point is not empty: %+v", empty)
			}
		}
	})
	e.row("92 failed, succeeded and deleted newest first; processing, scheduled and enqueued oldest first", func(e *engine) {
		for _, s := range store.States {
			list := []past{{states: way(s), kind: "order"}, {states: way(s), kind: "order"}, {states: way(s), kind: "order"}}
			for i := range list {
				list[i].at = someTime.Add(time.Duration(i) * time.Minute)
			}
			want := put(e.T, e.db, list...)
			if s == store.Failed || s == store.Succeeded || s == store.Deleted {
				slices.Reverse(want)
			}
			if got := jobIDs(walk(e.T, e.db, store.JobFilter{State: s, Kind: "order", Limit: 2})); !slices.Equal(got, want) {
				e.Errorf("%s: %v, want %v", s, got, want)
			}
		}
	})
	e.row("93 queues by name, and all of them, not the first five", func(e *engine) {
		for _, q := range []string{"g", "b", "f", "a", "e", "d", "c"} {
			e.enqueue(store.NewJob{Queue: "93" + q})
		}
		rows, err := e.db.Queues(e.ctx)
		if err != nil {
			e.Fatal(err)
		}
		var names []string
		for _, r := range rows {
			if r.Name[:2] == "93" {
				names = append(names, r.Name)
			}
		}
		if want := []string{"93a", "93b", "93c", "93d", "93e", "93f", "93g"}; !slices.Equal(names, want) {
			e.Errorf("%v, want %v", names, want)
		}
	})
	e.row("95 a job whose data nobody can read is listed, and read as it is", func(e *engine) {
		for _, args := range []string{`"a text"`, `null`, `[[1, 2], {}]`, `{"n": 1e400}`} {
			id := put(e.T, e.db, past{kind: "odd", args: args, states: way(store.Failed)})[0]
			if ids := jobIDs(walk(e.T, e.db, store.JobFilter{State: store.Failed, Kind: "odd"})); !slices.Contains(ids, id) {
				e.Errorf("args %s: not listed", args)
			}
			d, err := e.db.Job(e.ctx, id, 10, 0)
			if err != nil || !json.Valid(d.Args) {
				e.Errorf("args %s: read as %s, %v", args, d.Args, err)
			}
		}
	})
	e.row("96 no such job: not found", func(e *engine) {
		for _, id := range []int64{0, -1, 404404, 1<<63 - 1} {
			if _, err := e.db.Job(e.ctx, id, 10, 0); !errors.Is(err, store.ErrNotFound) {
				e.Errorf("job %d: %v", id, err)
			}
		}
	})
}

func (e *engine) expired(state store.State, keep time.Duration) int {
	e.Helper()
	n, err := e.db.Expire(e.ctx, state, keep)
	if err != nil {
		e.Fatal(err)
	}
	return n
}

// Rows 32, 33 and 101: what its cleaner takes and leaves.
func TestConformanceCleaner(t *testing.T) {
	e := writeSetup(t)
	long := time.Now().Add(-time.Hour)
	e.row("32 final states expire, each after a time of its own; failed never", func(e *engine) {
		for _, s := range store.States {
			put(e.T, e.db, past{states: way(s), at: long})
			want := 0
			if s == store.Succeeded || s == store.Deleted {
				want = 1
			}
			if n := e.expired(s, 2*time.Hour); n != 0 {
				e.Errorf("%s: %d removed before their time", s, n)
			}
			if n := e.expired(s, time.Minute); n != want {
				e.Errorf("%s: %d removed, want %d", s, n, want)
			}
		}
	})
	e.row("33 a job that left its final state expires no more", func(e *engine) {
		id := put(e.T, e.db, past{states: way(store.Succeeded), at: long})[0]
		if m := e.moved(e.db.Requeue(e.ctx, "ann", false, []store.Target{{ID: id, Expected: store.Succeeded}})); m.Err != nil {
			e.Fatal(m.Err)
		}
		if n := e.expired(store.Succeeded, time.Minute); n != 0 || !strings.HasPrefix(e.tell(id), "ready ") {
			e.Errorf("%d removed\n%s", n, e.tell(id))
		}
	})
	e.row("101 what never expires or not yet stays", func(e *engine) {
		var young, old []int64
		for _, s := range store.States {
			old = append(old, put(e.T, e.db, past{states: way(s)})...)
			young = append(young, put(e.T, e.db, past{states: way(s), at: time.Now().Add(-time.Minute)})...)
		}
		for _, s := range store.States {
			if n := e.expired(s, -1); n != 0 {
				e.Errorf("%s is kept for ever, and %d went", s, n)
			}
			e.expired(s, time.Hour)
		}
		var left []int64
		if err := e.db.SelectContext(e.ctx, &left, `select id from tekrar.jobs order by id`); err != nil {
			e.Fatal(err)
		}
		for i, s := range store.States {
			goes := s == store.Succeeded || s == store.Deleted
			if !slices.Contains(left, young[i]) || slices.Contains(left, old[i]) == goes {
				e.Errorf("%s: of young %d and old %d are left %v", s, young[i], old[i], left)
			}
		}
	})
}
