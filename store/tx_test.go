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

func countQueues(t *testing.T, db *store.DB) (n int) {
	t.Helper()
	if err := db.GetContext(context.Background(), &n, `select count(*) from tekrar.queues`); err != nil {
		t.Fatal(err)
	}
	return n
}

func addQueue(tx *sqlx.Tx) error {
	_, err := tx.Exec(`insert into tekrar.queues (name) values ('q')`)
	return err
}

func TestTxIsReadCommittedWhateverTheDefault(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.DSN(t)+" default_transaction_isolation=serializable", store.Options{})
	var level string
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error { return tx.Get(&level, `select current_setting('transaction_isolation')`) })
	if err != nil || level != "read committed" {
		t.Fatalf("%q, %v", level, err)
	}
}

func TestTxRollsBackOnErrorPanicAndCancel(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	sentinel := errors.New("no")
	if err := db.Tx(t.Context(), func(tx *sqlx.Tx) error { return errors.Join(addQueue(tx), sentinel) }); !errors.Is(err, sentinel) {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		db.Tx(t.Context(), func(tx *sqlx.Tx) error { addQueue(tx); panic("boom") })
	}()
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Tx(ctx, func(tx *sqlx.Tx) error { err := addQueue(tx); cancel(); return err })
	if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrUnknownOutcome) {
		t.Fatal(err)
	}
	if n := countQueues(t, db); n != 0 {
		t.Fatalf("%d rows stayed", n)
	}
	if err := db.Tx(t.Context(), addQueue); err != nil || countQueues(t, db) != 1 {
		t.Fatal(err)
	}
}

func TestALostReplyToCommitIsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	p := newProxy(t, "Q\x00\x00\x00\x0bCOMMIT\x00")
	db := storetest.Open(t, p.dsn(dsn), store.Options{})
	err := db.Tx(t.Context(), addQueue)
	if !errors.Is(err, store.ErrUnknownOutcome) {
		t.Fatalf("err = %v", err)
	}
	direct := storetest.Open(t, dsn, store.Options{})
	deadline := time.Now().Add(10 * time.Second)
	for countQueues(t, direct) != 1 {
		if time.Now().After(deadline) {
			t.Fatal("the server had the commit; the row must be there")
		}
	}
}

func TestARefusedCommitIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`create temp table d (a int unique deferrable initially deferred); insert into d values (1), (1)`)
		return err
	})
	if err == nil || errors.Is(err, store.ErrUnknownOutcome) || store.IsRetryable(err) {
		t.Fatalf("a refused commit: %v", err)
	}
}
