package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store"
)

// DBX-07: an action that Postgres ends for a deadlock is done again inside: the
// person sees success. The other side keeps its locks, so the action is the victim.
func TestADeadlockIsRetriedInside_DBX07(t *testing.T) {
	for name, act := range map[string]func(*race, []int64) error{
		"bulk delete": func(r *race, ids []int64) error {
			var targets []store.Target
			for _, id := range slices.Backward(ids) {
				targets = append(targets, store.Target{ID: id, Expected: store.Succeeded})
			}
			moved, err := r.second.Delete(r.ctx, "ann", targets)
			if i := slices.IndexFunc(moved, func(m store.Moved) bool { return m.Err != nil }); i >= 0 {
				return moved[i].Err
			}
			return err
		},
		"cleanup": func(r *race, ids []int64) error {
			n, err := r.second.Expire(r.ctx, store.Succeeded, 0)
			if n != len(ids) && err == nil {
				return errors.New("not all were removed")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, "")
			ids := put(t, r.db, past{states: way(store.Succeeded)}, past{states: way(store.Succeeded)})
			slices.Sort(ids)
			tx := r.hold()
			// Postgres ends the one that first looks for a deadlock: not this one.
			if _, err := tx.Exec(`set local deadlock_timeout = '1min'`); err != nil {
				t.Fatal(err)
			}
			lock := `select 1 from tekrar.jobs where id = $1 for update`
			if _, err := tx.Exec(lock, ids[1]); err != nil {
				t.Fatal(err)
			}
			acted := apart(func() (struct{}, error) { return struct{}{}, act(r, ids) })
			r.secondWaits() // it holds the first job and waits for the second
			if _, err := tx.Exec(lock, ids[0]); err != nil {
				if pe, ok := errors.AsType[*pq.Error](err); ok && pe.Code == "40P01" {
					t.Fatal("the test's own side was ended; it proves nothing")
				}
				t.Fatal(err)
			}
			if n := r.count(`select deadlocks from pg_stat_database where datname = current_database()`); n > 1 {
				t.Errorf("%d deadlocks", n)
			}
			r.commit(tx)
			must(r, acted)
		})
	}
}
