package main

import (
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	env := []string{"DATABASE_URL=" + storetest.EmptyDSN(t), "TEKRAR_SCHEMA=Jobs-2"}
	if out := tekrar(t, env, "migrate", "status").wantDone(t); !strings.Contains(out, "00001_schema") || !strings.Contains(out, "no\n") {
		t.Errorf("before: %s", out)
	}
	for range 2 { // the second finds nothing to do
		if out := tekrar(t, env, "migrate", "up").wantDone(t); out != "Schema Jobs-2 is up to date.\n" {
			t.Errorf("up: %s", out)
		}
	}
	if out := tekrar(t, env, "migrate", "status").wantDone(t); !strings.Contains(out, "Z\n") {
		t.Errorf("after: %s", out)
	}
	if out := tekrar(t, env, "jobs", "list").wantDone(t); !strings.HasPrefix(out, "ID") {
		t.Errorf("list: %s", out)
	}
	if out := tekrar(t, nil, "migrate", "print").wantDone(t); !strings.Contains(out, "create table jobs") {
		t.Errorf("print: %s", out)
	}
}

func TestStepsAreCountedAsTheyAreApplied(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{})
	total, applied := stepsOf(t.Context(), db)
	if total < 11 || applied() != 0 {
		t.Fatalf("%d of %d steps before the first", applied(), total)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if applied() != total {
		t.Errorf("%d of %d steps after the last", applied(), total)
	}
	if total, applied := stepsOf(t.Context(), db); total != 0 || applied != nil {
		t.Errorf("%d steps to show where there is nothing to do", total)
	}
}
