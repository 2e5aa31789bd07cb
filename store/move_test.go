package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
)

// action is what a person does on a page.
type action struct {
	name, word string
	from       []store.State
	to         store.State
	do         func(e *engine, targets ...store.Target) ([]store.Moved, error)
}

var actions = []action{
	{"requeue", "Requeued", []store.State{store.Scheduled, store.Awaiting, store.Succeeded, store.Failed, store.Deleted}, store.Enqueued,
		func(e *engine, x ...store.Target) ([]store.Moved, error) {
			return e.db.Requeue(e.ctx, "ann", false, x)
		}},
	{"delete", "Deleted", []store.State{store.Scheduled, store.Awaiting, store.Enqueued, store.Processing, store.Succeeded, store.Failed}, store.Deleted,
		func(e *engine, x ...store.Target) ([]store.Moved, error) { return e.db.Delete(e.ctx, "ann", x) }},
	{"restore", "Restored", []store.State{store.Deleted}, store.Enqueued,
		func(e *engine, x ...store.Target) ([]store.Moved, error) { return e.db.Restore(e.ctx, "ann", x) }},
}

// Every state a job can be in, every state a person can have seen it in, every
// action: what the table of transitions allows is done once, all else nothing.
func TestMovesByAPerson_EXE16(t *testing.T) {
	e := writeSetup(t)
	for _, a := range actions {
		for _, at := range store.States {
			for _, expected := range append([]store.State{store.Late, 0, 99}, store.States...) {
				name := fmt.Sprintf("%s of a job %s, seen %s", a.name, at, expected)
				id := put(t, e.db, past{states: way(at)})[0]
				before := e.tell(id)
				moved, err := a.do(e, store.Target{ID: id, Expected: expected})
				if err != nil || len(moved) != 1 || moved[0].ID != id {
					t.Fatalf("%s: %+v, %v", name, moved, err)
				}
				m, after := moved[0], e.tell(id)
				if expected != at || !slices.Contains(a.from, at) {
					if !errors.Is(m.Err, store.ErrStateChanged) || m.Now != at || after != before {
						t.Errorf("%s: %+v\n%s\nbefore\n%s", name, m, after, before)
					}
					continue
				}
				attempt := 1
				if at == store.Scheduled || at == store.Awaiting || at == store.Enqueued {
					attempt = 0
				}
				if m.Err != nil || m.Now != a.to || m.Attempt != attempt || m.Queue != "default" {
					t.Errorf("%s: %+v", name, m)
				}
				if want := wantMoved(before, a, at, attempt); after != want {
					t.Errorf("%s:\n%s\nwant\n%s", name, after, want)
				}
			}
		}
	}
	e.check()
}

// wantMoved is the story of a job after an action.
func wantMoved(before string, a action, at store.State, attempt int) string {
	lines := strings.Split(before, "\n")
	if at != store.Succeeded && at != store.Deleted {
		lines = lines[1:] // the hot row left
	}
	if a.to == store.Enqueued {
		lines = append([]string{fmt.Sprintf("ready %d r0 l0 s0", attempt)}, lines...)
	}
	lines = append(lines, fmt.Sprintf(`%s %d "%s by ann" by ann`, a.to, attempt, a.word), fmt.Sprintf("audit: ann %s from %d", a.name, at))
	return strings.Join(lines, "\n")
}

func TestMovesOfUnknownAndRepeatedJobs(t *testing.T) {
	e := writeSetup(t)
	ids := put(t, e.db, past{states: way(store.Failed)}, past{states: way(store.Succeeded)})
	moved, err := e.db.Requeue(e.ctx, "ann", false, []store.Target{
		{ID: 404, Expected: store.Failed}, {ID: ids[1], Expected: store.Failed}, {ID: ids[0], Expected: store.Failed}, {ID: ids[0], Expected: store.Failed}})
	if err != nil || !errors.Is(moved[0].Err, store.ErrNotFound) || !errors.Is(moved[1].Err, store.ErrStateChanged) || moved[2].Err != nil || moved[2] != moved[3] {
		t.Fatalf("%+v, %v", moved, err)
	}
	for _, a := range actions {
		if moved, err := a.do(e); err != nil || len(moved) != 0 {
			t.Errorf("%s of nothing: %v, %v", a.name, moved, err)
		}
	}
	if n := e.count(`select count(*) from tekrar.audit`); n != 1 {
		t.Errorf("%d audit rows, want 1", n)
	}
	e.check()
}

// Run once keeps the retry counter; a fresh budget does not. Losses and snoozes
// begin anew either way (LSE-18), attempt only grows.
func TestRequeueAndTheBudgets_LSE18_RTY11(t *testing.T) {
	e := writeSetup(t)
	for fresh, want := range map[bool]string{false: "ready 5 r3 l0 s0", true: "ready 5 r0 l0 s0"} {
		id := put(t, e.db, past{states: way(store.Failed)})[0]
		e.exec(`update tekrar.history set attempt = 5 where job_id = $1 and state in (3, 5)`, id)
		e.exec(`update tekrar.failed set attempt = 5, retry = 3, losses = 4, snoozes = 2 where job_id = $1`, id)
		moved, err := e.db.Requeue(e.ctx, "ann", fresh, []store.Target{{ID: id, Expected: store.Failed}})
		if err != nil || moved[0].Err != nil {
			t.Fatal(moved, err)
		}
		if told, _, _ := strings.Cut(e.tell(id), "\n"); told != want {
			t.Errorf("fresh %v: %s, want %s", fresh, told, want)
		}
		if e.count(`select count(*) from tekrar.ready where job_id = $1 and ready_at > clock_timestamp() - interval '1 hour'`, id) != 1 {
			t.Error("a requeued job is due from when it was requeued")
		}
		if e.count(`select count(*) from tekrar.history where job_id = $1 and (data->>'fresh_budget')::boolean = $2`, id, fresh) != 1 {
			t.Error("history does not say which button it was")
		}
	}
}
