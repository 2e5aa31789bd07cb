package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A commit waits for a synchronous standby that is away. Whoever stops waiting must not
// be told that it is done: the server says so, and a failover would lose it.
func TestACommitThatNoStandbyHasIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t, nil)
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, server.DSN("shop"), store.Options{})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Admin(t, server, `alter system set synchronous_standby_names = 'nobody'`, `select pg_reload_conf()`)
	waiting := func(ctx context.Context) {
		for {
			var n int
			err := db.GetContext(ctx, &n, `select count(*) from pg_stat_activity where wait_event = 'SyncRep'`)
			if n > 0 || err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	for name, write := range map[string]func(context.Context) error{
		"enqueue": func(ctx context.Context) error {
			_, err := db.Enqueue(ctx, []store.NewJob{{Kind: "k", Queue: "q", Args: `{}`}}, nil)
			return err
		},
		"transaction": func(ctx context.Context) error {
			return db.Tx(ctx, func(tx *sqlx.Tx) error { return addQueue(tx) })
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		answer := make(chan error, 1)
		go func() { answer <- write(ctx) }()
		waiting(ctx)
		cancel()
		select {
		case err := <-answer:
			if err == nil {
				t.Errorf("%s: acknowledged, and on no standby", name)
			}
			if name == "transaction" && !errors.Is(err, store.ErrUnknownOutcome) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: still waits", name)
		}
	}
	storetest.Admin(t, server, `alter system reset synchronous_standby_names`, `select pg_reload_conf()`)
}
