package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// While a primary takes no writes everything is refused alike, transactions too;
// afterwards the same pools write again.
func TestAReadOnlyPrimaryRefusesEveryWrite(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t, nil)
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, server.DSN("shop"), store.Options{})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, db)
	other := e.register("two")
	job := e.enqueue(store.NewJob{})[0]
	writes := map[string]func(context.Context) error{
		"enqueue": func(ctx context.Context) error {
			_, err := db.Enqueue(ctx, []store.NewJob{{Kind: "k", Queue: "default", Args: `{}`}}, nil)
			return err
		},
		"transaction": func(ctx context.Context) error {
			return db.Tx(ctx, func(tx *sqlx.Tx) error { return touchQueue(tx) })
		},
		"lease": func(ctx context.Context) error { return db.Renew(ctx, other, time.Hour, true, false) },
		"sweep": func(ctx context.Context) error { _, err := db.Reclaim(ctx, e.server, 3); return err },
		"delete": func(ctx context.Context) error {
			_, err := db.Delete(ctx, "ann", []store.Target{{ID: job, Expected: store.Enqueued}})
			return err
		},
	}
	for name, write := range writes {
		if name != "delete" {
			if err := write(t.Context()); err != nil {
				t.Fatalf("before, %s: %v", name, err)
			}
		}
	}
	e.expire(other)
	storetest.Admin(t, server, `alter system set default_transaction_read_only = on`, `select pg_reload_conf()`)
	for yes := false; !yes; {
		var err error
		if yes, err = db.ReadOnly(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, write := range writes {
		if err := write(t.Context()); !store.IsReadOnly(err) || !store.IsRetryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	storetest.Admin(t, server, `alter system reset default_transaction_read_only`, `select pg_reload_conf()`)
	for yes := true; yes; {
		var err error
		if yes, err = db.ReadOnly(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, write := range writes {
		if name != "lease" { // the sweep may have been first
			if err := write(t.Context()); err != nil {
				t.Errorf("after, %s: %v", name, err)
			}
		}
	}
}

func touchQueue(tx *sqlx.Tx) error {
	_, err := tx.Exec(`insert into tekrar.queues (name) values ('q') on conflict (name) do nothing`)
	return err
}
