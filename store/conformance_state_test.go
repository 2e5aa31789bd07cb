package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Rows 32 to 45 of Hangfire's suite speak of its state machine. Subtests carry the
// row's number; jobs/CONFORMANCE.md says which rows hold and which differ.

// row runs one row of the list on the engine's database.
func (e *engine) row(name string, test func(e *engine)) {
	e.Helper()
	e.Run(name, func(t *testing.T) {
		one := *e
		one.T, one.ctx = t, t.Context()
		test(&one)
	})
}

// moved is the one answer of an action on one job.
func (e *engine) moved(list []store.Moved, err error) store.Moved {
	e.Helper()
	if err != nil || len(list) != 1 {
		e.Fatal(list, err)
	}
	return list[0]
}

func TestConformanceStateMachine(t *testing.T) {
	e := writeSetup(t)
	e.row("37 unknown job: nothing, and it is said", func(e *engine) {
		for _, a := range actions {
			if m := e.moved(a.do(e, store.Target{ID: 404404, Expected: a.from[0]})); !errors.Is(m.Err, store.ErrNotFound) {
				e.Errorf("%s: %+v", a.name, m)
			}
		}
	})
	e.row("38 not in the expected state: nothing, and it is said where it is", func(e *engine) {
		id := put(e.T, e.db, past{states: way(store.Failed)})[0]
		before := e.tell(id)
		m := e.moved(e.db.Delete(e.ctx, "ann", []store.Target{{ID: id, Expected: store.Enqueued}}))
		if !errors.Is(m.Err, store.ErrStateChanged) || m.Now != store.Failed || e.tell(id) != before {
			e.Errorf("%+v\n%s", m, e.tell(id))
		}
	})
	e.row("39 no expected state: refused, since a person acts on what the screen showed", func(e *engine) {
		for _, a := range actions {
			id := put(e.T, e.db, past{states: way(a.from[0])})[0]
			before := e.tell(id)
			if m := e.moved(a.do(e, store.Target{ID: id})); !errors.Is(m.Err, store.ErrStateChanged) || e.tell(id) != before {
				e.Errorf("%s: %+v\n%s", a.name, m, e.tell(id))
			}
		}
	})
	e.row("40 nobody can load the kind: it stays enqueued, since the next deploy may know it", func(e *engine) {
		id := e.enqueue(store.NewJob{Kind: "gone.v1"})[0]
		if c := e.claim(1000); len(c) > 0 && c[len(c)-1].ID == id {
			e.Errorf("claimed %+v", c)
		}
		e.wantTold(id, "ready 0 r0 l0 s0\nenqueued 0")
	})
	e.row("41 nobody can load the kind, and it is deleted: deleted", func(e *engine) {
		id := e.enqueue(store.NewJob{Kind: "gone.v1"})[0]
		if m := e.moved(e.db.Delete(e.ctx, "ann", []store.Target{{ID: id, Expected: store.Enqueued}})); m.Err != nil || m.Now != store.Deleted {
			e.Errorf("%+v", m)
		}
	})
	e.row("44 the caller's transaction is the caller's to commit", func(e *engine) {
		tx, err := e.db.Beginx()
		if err != nil {
			e.Fatal(err)
		}
		created, err := e.db.EnqueueIn(e.ctx, tx, []store.NewJob{{Kind: "k", Queue: "default", Args: "{}"}}, nil)
		if err != nil {
			e.Fatal(err)
		}
		if _, err := e.db.Job(e.ctx, created[0].ID, 1, 0); !errors.Is(err, store.ErrNotFound) {
			e.Errorf("it is seen before the commit: %v", err)
		}
		if err := tx.Rollback(); err != nil {
			e.Fatal(err)
		}
		if _, err := e.db.Job(e.ctx, created[0].ID, 1, 0); !errors.Is(err, store.ErrNotFound) {
			e.Errorf("it outlived the rollback: %v", err)
		}
	})
	e.row("45 a job never lacks a state: both come in one statement", func(e *engine) {
		tx, err := e.db.Beginx()
		if err != nil {
			e.Fatal(err)
		}
		defer tx.Rollback()
		created, err := e.db.EnqueueIn(e.ctx, tx, []store.NewJob{{Kind: "k", Queue: "default", Args: "{}"}, {Kind: "k", Queue: "default", Args: "{}", In: time.Hour}}, nil)
		if err != nil {
			e.Fatal(err)
		}
		for i, want := range []string{"ready 0 r0 l0 s0\nenqueued 0", "scheduled 0 r0 l0 s0 cause 1\nscheduled 0"} {
			e.wantTold(created[i].ID, "")
			defer func() { e.wantTold(created[i].ID, want) }()
		}
		if err := tx.Commit(); err != nil {
			e.Fatal(err)
		}
	})
	e.check()
}

// Row 36: a change is made under the lock of the job's row: a second one waits for
// it, and then finds the job elsewhere.
func TestConformanceLock(t *testing.T) {
	r := newRace(t, "")
	t.Run("36 a change happens inside the job's lock", func(t *testing.T) {
		c := r.running()
		tx := r.hold()
		if refused, err := store.SettleIn(r.ctx, r.first, tx, r.server, succeeded(c)); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		second := apart(func() ([]store.Moved, error) {
			return r.second.Delete(r.ctx, "ann", []store.Target{{ID: c.ID, Expected: store.Processing}})
		})
		r.secondWaits()
		r.commit(tx)
		if m := must(r, second); !errors.Is(m[0].Err, store.ErrStateChanged) || m[0].Now != store.Succeeded {
			t.Errorf("%+v", m)
		}
		r.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\nsucceeded 1 on %[1]d", r.server))
	})
	r.check()
}

// broken makes every insert into a table fail that the condition names, as a
// statement that Postgres cannot carry out would.
func (e *engine) broken(table, when string) (repair func()) {
	e.Helper()
	e.exec(`create or replace function tekrar.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`)
	e.exec(fmt.Sprintf(`create trigger refused before insert on tekrar.%s for each row when (%s) execute function tekrar.refuse()`, table, when))
	return func() { e.exec(fmt.Sprintf(`drop trigger refused on tekrar.%s`, table)) }
}

// Rows 42, 48 and 63: a change that fails halfway has not happened.
func TestConformanceFailedChanges(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t)) // it gets triggers
	e.row("42 what fails inside a change commits nothing of it", func(e *engine) {
		c := e.running()
		before := e.tell(c.ID)
		repair := e.broken("stats", "true") // the last of the settle's tables
		if _, err := e.db.Settle(e.ctx, e.server, []store.Settled{succeeded(c)}); err == nil {
			e.Error("no error")
		}
		e.wantTold(c.ID, before)
		repair()
		e.settle(succeeded(c))
	})
	e.row("48 a claim that fails leaves the job enqueued", func(e *engine) {
		id := e.enqueue(store.NewJob{})[0]
		repair := e.broken("running", "true")
		if c, err := e.db.Claim(e.ctx, e.server, lanes("default"), []string{"k"}, 1); err == nil {
			e.Errorf("claimed %v", c)
		}
		e.wantTold(id, "ready 0 r0 l0 s0\nenqueued 0")
		repair()
		if c := e.claim(1); len(c) != 1 || c[0].Attempt != 1 {
			e.Errorf("claimed %+v afterwards", c)
		}
	})
	e.row("63 a due job that could not be enqueued stays scheduled", func(e *engine) {
		id := e.enqueue(store.NewJob{In: time.Hour})[0]
		e.exec(`update tekrar.scheduled set run_at = clock_timestamp()`)
		repair := e.broken("ready", "true")
		if p, err := e.db.Promote(e.ctx); err == nil {
			e.Errorf("promoted %v", p)
		}
		e.wantTold(id, "scheduled 0 r0 l0 s0 cause 1\nscheduled 0")
		repair()
		if p := e.promote(); len(p.IDs) != 1 {
			e.Errorf("promoted %v afterwards", p)
		}
	})
	e.check()
}
