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

func TestDatabaseIsDroppedWhenItsTestEnds(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("inner", func(t *testing.T) {
		if err := storetest.New(t).GetContext(t.Context(), &name, `select current_database()`); err != nil {
			t.Fatal(err)
		}
	})
	var n int
	err := storetest.New(t).GetContext(t.Context(), &n, `select count(*) from pg_database where datname = $1`, name)
	if err != nil || n != 0 {
		t.Fatalf("database %s: %d left, %v", name, n, err)
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
