package store_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// race has two processes on one database. first is stopped in the middle,
// second then runs into it; the engine's own db looks on.
type race struct {
	*engine
	first, second *store.DB
	reached       chan struct{}
	goOn          func()
}

// newRace stops first at the pause point; "" for none.
func newRace(t *testing.T, point string) *race {
	t.Helper()
	t.Parallel()
	db := storetest.New(t)
	dsn := db.DSN()
	r := &race{engine: newEngine(t, db),
		first: storetest.Open(t, named(dsn, "first"), store.Options{}), second: storetest.Open(t, named(dsn, "second"), store.Options{}),
		reached: make(chan struct{})}
	resume := make(chan struct{})
	r.goOn = sync.OnceFunc(func() { close(resume) })
	t.Cleanup(r.goOn)
	once := sync.OnceFunc(func() { close(r.reached) })
	if point != "" {
		store.SetPause(r.first, func(at string) {
			if at == point {
				once()
				<-resume
			}
		})
	}
	return r
}

// with sets one parameter of an address.
func with(dsn, key, value string) string {
	if u, err := url.Parse(dsn); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		q := u.Query()
		q.Set(key, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	return dsn + " " + key + "=" + value
}

func named(dsn, name string) string { return with(dsn, "application_name", name) }

// outcome is what a call that runs apart returns.
type outcome[T any] struct {
	value T
	err   error
}

// apart runs one side of a race.
func apart[T any](f func() (T, error)) chan outcome[T] {
	c := make(chan outcome[T], 1)
	go func() {
		v, err := f()
		c <- outcome[T]{v, err}
	}()
	return c
}

// must waits for one side of a race.
func must[T any](r *race, c chan outcome[T]) T {
	r.Helper()
	o := <-c
	if o.err != nil {
		r.Fatal(o.err)
	}
	return o.value
}

// secondWaits returns once the database says that second waits for first: the
// proof that the two met.
func (r *race) secondWaits() {
	r.Helper()
	until(r.T, "second waits for first", func() bool {
		return r.count(`select count(*) from pg_stat_activity w
			cross join lateral unnest(pg_blocking_pids(w.pid)) b(pid) join pg_stat_activity f on f.pid = b.pid
			where w.datname = current_database() and w.wait_event_type = 'Lock'
			  and w.application_name = 'second' and f.application_name = 'first'`) > 0
	})
}

// hold begins a transaction of first that the test commits: where a statement is
// its own transaction, this is how to stop before its commit.
func (r *race) hold() *sqlx.Tx {
	r.Helper()
	tx, err := r.first.Beginx()
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { tx.Rollback() })
	return tx
}

func (r *race) commit(tx *sqlx.Tx) {
	r.Helper()
	if err := tx.Commit(); err != nil {
		r.Fatal(err)
	}
}

// lostServer has one job at attempt 1 and no lease any more.
func (r *race) lostServer() (int64, store.Claimed) {
	r.Helper()
	lost := r.register("lost")
	r.enqueue(store.NewJob{})
	claimed := r.claimAs(lost, 1)
	if len(claimed) != 1 {
		r.Fatal("nothing claimed")
	}
	r.expire(lost)
	return lost, claimed[0]
}

// openAgain opens the database of db once more, as another process would.
func openAgain(t *testing.T, db *store.DB) *store.DB {
	t.Helper()
	return storetest.Open(t, db.DSN(), store.Options{})
}
