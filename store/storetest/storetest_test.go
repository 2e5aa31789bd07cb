package storetest_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

func TestDatabasesAreMigratedAndIsolated(t *testing.T) {
	t.Parallel()
	a, b := storetest.New(t), storetest.New(t)
	if err := a.CheckSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, a, `insert into tekrar.queues (name) values ('only in a')`)
	var n int
	if err := b.GetContext(t.Context(), &n, `select count(*) from tekrar.queues`); err != nil || n != 0 {
		t.Fatalf("the other database has %d queues, %v; want 0", n, err)
	}
}

// A test gets a database that others had without any of their rows and numbers, and
// never one that they changed otherwise or still use.
func TestASpareDatabaseIsAsNew(t *testing.T) { // alone, so that nobody else takes the spare one
	if storetest.Server(t) == nil {
		t.Skip("on a server that stays, databases are dropped")
	}
	for _, c := range []struct {
		left        string
		open, again bool // of its connections one stays; the next test gets the database
	}{
		{left: `insert into tekrar.jobs (queue, kind, args) values ('q', 'k', '{}')`, again: true},
		{left: `insert into tekrar.scheduled (job_id, run_at, queue, kind) values (1, now(), 'q', 'k')`, again: true},
		{left: `insert into tekrar.failed (job_id, queue, kind) values (1, 'q', 'k')`, again: true},
		{left: `insert into tekrar.queues (name) values ('q')`, open: true},
		{left: `create trigger t before insert on tekrar.jobs for each row execute function suppress_redundant_updates_trigger()`},
		{left: `alter table tekrar.ready set (fillfactor = 50)`},
		{left: `alter table tekrar.ready alter column attempt set default 7`},
		{left: `do $$ begin execute format('alter database %I set timezone = UTC', current_database()); end $$`},
	} {
		before := ""
		t.Run("before", func(t *testing.T) {
			db, err := store.Open(storetest.DSN(t), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.GetContext(t.Context(), &before, `select current_database()`); err != nil {
				t.Fatal(err)
			}
			storetest.Exec(t, db, c.left)
			if !c.open {
				db.Close()
			}
		})
		t.Run("after", func(t *testing.T) {
			var now struct {
				Name    string
				Rows, N int
			}
			db := storetest.New(t)
			if err := db.GetContext(t.Context(), &now, `select current_database() as name, (select sum((xpath('/row/n/text()', query_to_xml(format('select count(*) as n from tekrar.%I', tablename), true, true, '')))[1]::text::bigint)
				 from pg_tables where schemaname = 'tekrar' and tablename <> 'goose_db_version') as rows,
				nextval('tekrar.jobs_id_seq') as n`); err != nil {
				t.Fatal(err)
			}
			if (now.Name == before) != c.again || now.Rows != 0 || now.N != 1 {
				t.Errorf("after %s: %+v, before it was %s", c.left, now, before)
			}
		})
	}
}

func TestOwnServerKeepsItsDataOverACrash(t *testing.T) {
	t.Parallel()
	s := storetest.NewServer(t, map[string]string{"max_connections": "20"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.CreateDatabase(ctx, "kept"); err != nil {
		t.Fatal(err)
	}
	if err := s.Crash(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	var limit string
	db := storetest.Open(t, s.DSN("kept"), store.Options{})
	if err := db.GetContext(ctx, &limit, `select current_setting('max_connections')`); err != nil || limit != "20" {
		t.Fatalf("max_connections = %q, %v", limit, err)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		storetest.DSN(b)
	}
}
