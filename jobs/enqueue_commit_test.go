package jobs_test

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store/storetest"
)

// Rows of an insert arrive before its commit. A commit that fails then must take
// the ids back: here a deferred trigger refuses each one.
func TestNoIDIsGivenBeforeTheCommit(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`create function tekrar.refuse() returns trigger language plpgsql as $$ begin raise exception 'no commit'; end $$;
create constraint trigger refuse after insert on tekrar.jobs deferrable initially deferred for each row execute function tekrar.refuse()`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, db, quickly())
	if one, err := c.Enqueue(t.Context(), task{}); err == nil || one != (jobs.EnqueueResult{}) {
		t.Errorf("Enqueue: %+v, %v", one, err)
	}
	if many, err := c.EnqueueMany(t.Context(), tasks(10)); err == nil || many != nil {
		t.Errorf("EnqueueMany: %+v, %v", many, err)
	}
	if one, err := c.Enqueue(t.Context(), task{}, jobs.Unique("k", jobs.UntilFinished)); err == nil || one != (jobs.EnqueueResult{}) {
		t.Errorf("unique: %+v, %v", one, err)
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.jobs`))
}
