package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// ARG-10, DBX-03: every statement through PgBouncer in transaction mode, with args
// and an error that hold what breaks encodings.
func TestEveryStatementThroughPgBouncer_ARG10_DBX03(t *testing.T) {
	t.Parallel()
	everything(t, storetest.Open(t, storetest.Pooled(t, storetest.DSN(t)), store.Options{}))
}

// DBX-03: the sessions behind the pooler change hands in the midst of claims and
// settles, and yet keep nothing of ours.
func TestThePoolerSeesNoSessionState_DBX03(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	address := storetest.Pooled(t, dsn)
	direct := newEngine(t, storetest.Open(t, dsn, store.Options{}))
	direct.enqueue(make([]store.NewJob, 400)...)
	var all sync.WaitGroup
	for range 8 {
		db := storetest.Open(t, address, store.Options{})
		all.Go(func() {
			for {
				claimed, err := db.Claim(direct.ctx, direct.server, lanes("default"), []string{"k"}, 5)
				if err != nil || len(claimed) == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				for _, c := range claimed {
					if refused, err := db.Settle(direct.ctx, direct.server, []store.Settled{succeeded(c)}); err != nil || len(refused) != 0 {
						t.Error(refused, err)
					}
				}
			}
		})
	}
	all.Wait()
	if n := direct.count(`select coalesce(sum(n), 0) from tekrar.stats where outcome = 1`); n != 400 {
		t.Errorf("%d of 400 jobs succeeded", n)
	}
	direct.check()
	pooledDB := storetest.Open(t, address, store.Options{})
	var prepared int
	var seqscan string
	err := pooledDB.QueryRowxContext(t.Context(), `select (select count(*) from pg_prepared_statements where name <> ''), current_setting('enable_seqscan')`).Scan(&prepared, &seqscan)
	if err != nil || prepared != 0 || seqscan != "on" {
		t.Errorf("a session of the pool has %d prepared statements, enable_seqscan %s, %v", prepared, seqscan, err)
	}
}

// DBX-03: LISTEN through a pooler succeeds and nothing arrives. It never counts as
// listening; the same listener on a direct address does.
func TestListenThroughPgBouncerIsNotListening_DBX03(t *testing.T) {
	storetest.NeedsListen(t)
	t.Parallel()
	dsn := storetest.DSN(t)
	e := newEngine(t, storetest.Open(t, storetest.Pooled(t, dsn), store.Options{}))
	_, up := listening(e, e.db.ListenJobs)
	direct := newEngine(t, storetest.Open(t, dsn, store.Options{}))
	_, directUp := listening(direct, direct.db.ListenJobs)
	if !<-directUp {
		t.Error("a direct listener is not up")
	}
	// The direct one hears what the pooled one sends in vain: its second probe ends the wait.
	heard := make(chan struct{}, 100)
	l := pq.NewListener(dsn, time.Second, time.Second, nil)
	t.Cleanup(func() { l.Close() })
	if err := l.Listen(store.Channels(e.db)[0]); err != nil {
		t.Fatal(err)
	}
	go func() {
		for n := range l.Notify {
			if n != nil && strings.HasPrefix(n.Extra, "probe ") {
				heard <- struct{}{}
			}
		}
	}()
	select {
	case <-heard:
	case <-time.After(40 * time.Second):
		t.Fatal("it does not probe")
	}
	select {
	case is := <-up:
		t.Errorf("a listener through the pooler says %v", is)
	default:
	}
}

// DBX-03: migrations need locks that last a session; the address is refused with the
// reason, unless there is nothing to do.
func TestMigrateThroughAPoolerIsRefused_DBX03(t *testing.T) {
	t.Parallel()
	empty := storetest.Open(t, with(storetest.EmptyDSN(t), "binary_parameters", "yes"), store.Options{})
	if err := empty.Migrate(context.Background()); err == nil || !strings.Contains(err.Error(), "direct address") || errors.Is(err, store.ErrSchemaTooNew) {
		t.Error(err)
	}
	migrated := storetest.Open(t, with(storetest.DSN(t), "binary_parameters", "yes"), store.Options{})
	if err := migrated.Migrate(context.Background()); err != nil {
		t.Error(err)
	}
}

// DBX-03: an address through a pooler that does not say so is found out, a direct one
// is not suspected.
func TestAPoolerIsFoundOut_DBX03(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	address := strings.Replace(storetest.Pooled(t, dsn), "&binary_parameters=yes", "", 1)
	if err := storetest.Open(t, address, store.Options{}).CheckPooler(t.Context()); !errors.Is(err, store.ErrPooled) {
		t.Errorf("through a pooler: %v", err)
	}
	for _, good := range []string{dsn, address + "&binary_parameters=yes"} {
		if err := storetest.Open(t, good, store.Options{}).CheckPooler(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
