package web_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// numbered is a page and how its numbers are computed anew. path may ask which one.
type numbered struct {
	path  func(frozen) string
	check func(*sheet, frozen)
}

func at(path string) func(frozen) string { return func(frozen) string { return path } }

// Every number on every page is what the database holds, while an engine works, people
// act and jobs come. For a few pages at a time the writers are held back: a page is
// read, and its numbers are computed from the tables by other statements than its own.
func TestNumbersEqualTheDatabase(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}, client: jobs.Config{Workers: 8}})
	x.loaded()
	x.until("the load is well under way", func() bool {
		return x.number(`select count(*) from tekrar.history where state = 4`) > 100 && x.number(`select count(*) from tekrar.failed`) > 20
	})
	numbers, began := 0, time.Now()
	before := x.number(`select max(id) from tekrar.history`)
	for round := range 3 {
		for some := range slices.Chunk(pagesWithNumbers(), 5) {
			x.freeze(func(q frozen) {
				for _, p := range some {
					s := q.compared(p)
					numbers += s.numbers
					if len(s.faults) > 0 {
						t.Errorf("round %d: %s", round+1, strings.Join(s.faults[:min(len(s.faults), 12)], "\n"))
					}
				}
			})
		}
	}
	rows := x.number(`select max(id) from tekrar.history`) - before
	t.Logf("%d numbers compared in %s, while %d rows of history were written", numbers, time.Since(began).Round(time.Second/10), rows)
	if rows < 200 {
		t.Errorf("only %d rows of history were written meanwhile: that is no load", rows)
	}
}

// compared reads a page and the database at one moment. A minute that ends meanwhile,
// or a lease, makes two moments of it: then once more.
func (q frozen) compared(p numbered) (s *sheet) {
	x := q.x
	x.t.Helper()
	for range 3 {
		path := p.path(q)
		q.now = q.clock()
		body := x.get(path).wants(x.t, 200).body
		var err error
		if s, err = newSheet(path, body, q.now); err != nil {
			x.t.Fatal(err)
		}
		p.check(s, q)
		s.rest()
		after := q.clock()
		if after.Truncate(time.Minute).Equal(q.now.Truncate(time.Minute)) &&
			q.n(`select count(*) from tekrar.servers where lease_until between $1 and $2`, q.now.Add(-time.Second), after) == 0 {
			return s
		}
	}
	return s
}

// frozen is the database while nobody writes.
type frozen struct {
	x   *site
	tx  *sqlx.Tx
	now time.Time
}

const freezing = `do $$ declare names text; begin
  select string_agg(format('tekrar.%I', tablename), ', ' order by tablename) into names from pg_tables where schemaname = 'tekrar';
  execute 'lock table ' || names || ' in share mode';
end $$`

// freeze holds writers back while fn looks. It waits for their locks less long than a
// deadlock takes to be found, since they hold some of what it wants and want the rest.
func (x *site) freeze(fn func(frozen)) {
	x.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		tx, err := x.db.BeginTxx(context.Background(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			x.t.Fatal(err)
		}
		if _, err = tx.Exec(`set local lock_timeout = '200ms'`); err == nil {
			if _, err = tx.Exec(freezing); err == nil {
				fn(frozen{x: x, tx: tx})
			}
		}
		if done := tx.Rollback(); err == nil && done == nil {
			return
		} else if time.Now().After(end) {
			x.t.Fatal("the tables could not be locked: ", errors.Join(err, done))
		}
	}
}

// n is one number; q.rows are many.
func (q frozen) n(text string, args ...any) (n int64) {
	q.x.t.Helper()
	q.get(&n, text, args...)
	return n
}

func (q frozen) get(to any, text string, args ...any) {
	q.x.t.Helper()
	if err := q.tx.Get(to, text, args...); err != nil {
		q.x.t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
}

func (q frozen) rows(to any, text string, args ...any) {
	q.x.t.Helper()
	if err := q.tx.Select(to, text, args...); err != nil {
		q.x.t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
}

func (q frozen) clock() (at time.Time) {
	q.x.t.Helper()
	q.get(&at, `select clock_timestamp()`)
	return at
}
