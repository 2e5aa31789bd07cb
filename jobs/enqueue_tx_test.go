package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// transaction is what *sql.Tx and *sqlx.Tx share.
type transaction interface {
	jobs.Querier
	Commit() error
	Rollback() error
}

// UNQ-12: a job enqueued in a transaction is invisible before the commit, gone
// after a rollback, and starts within one wake-up after the commit: long before
// the next poll.
func TestUNQ12EnqueueTx(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*store.DB) (transaction, error){
		"sql.Tx":  func(db *store.DB) (transaction, error) { return db.DB.DB.Begin() },
		"sqlx.Tx": func(db *store.DB) (transaction, error) { return db.Beginx() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quickly()
			cfg.Poll = time.Hour
			ran := make(chan int64, 10)
			r := start(t, cfg, on(func(_ context.Context, j *jobs.Job[task]) error { ran <- j.ID; return nil }))
			r.listens()
			enqueue := func() (transaction, int64) {
				tx, err := begin(r.db)
				if err != nil {
					t.Fatal(err)
				}
				placed, err := r.EnqueueTx(t.Context(), tx, task{N: 7})
				if err != nil {
					t.Fatal(err)
				}
				return tx, placed.ID
			}
			gone, rolledBack := enqueue()
			if err := gone.Rollback(); err != nil {
				t.Fatal(err)
			}
			tx, id := enqueue()
			// Another job that runs to its end proves that the engine has looked.
			r.waitFor(r.put(task{}), store.Succeeded)
			<-ran
			same(t, 1, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			committed := time.Now()
			same(t, id, <-ran)
			if took := time.Since(committed); took > 5*time.Second { // the poll is an hour
				t.Errorf("started %v after the commit", took)
			}
			if rolledBack == id {
				t.Error("an id was given twice")
			}
			r.waitFor(id, store.Succeeded)
			same(t, 0, len(ran))
		})
	}
}

// All jobs of EnqueueManyTx share the transaction's fate, and scheduled ones too.
func TestEnqueueManyTx(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(nothing))
	for _, commit := range []bool{false, true} {
		tx, err := r.db.Beginx()
		if err != nil {
			t.Fatal(err)
		}
		placed, err := r.EnqueueManyTx(t.Context(), tx, []jobs.Item{
			{Args: task{N: 1}}, {Args: task{N: 2}, Options: []jobs.EnqueueOption{jobs.In(time.Millisecond)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, []store.State{store.Enqueued, store.Scheduled}, []store.State{placed[0].State, placed[1].State})
		if !commit {
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for _, p := range placed {
			r.waitFor(p.ID, store.Succeeded)
		}
	}
	same(t, 2, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
}
