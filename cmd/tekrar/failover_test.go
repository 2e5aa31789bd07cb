package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A synchronous standby takes the place of its primary under load, after a time in
// which the primary took no writes. Nothing that was acknowledged is lost, every such
// job succeeds once, and nobody is started again.
func TestFailover(t *testing.T) {
	t.Parallel()
	if storetest.Server(t) == nil {
		t.Skip("needs servers of its own")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	primary := storetest.NewServer(t, map[string]string{"wal_level": "replica", "max_wal_senders": "4"})
	if err := primary.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	standby := storetest.NewStandby(t, primary)
	storetest.Synchronous(t, primary)
	dsn := storetest.Hosts("shop", primary, standby)
	env := []string{"DATABASE_URL=" + dsn}
	tekrar(t, env, "migrate", "up").wantDone(t)
	db := storetest.Open(t, dsn, store.Options{Logger: slog.New(slog.DiscardHandler)})
	journal := filepath.Join(t.TempDir(), "journal")
	workers := []*workerProcess{startWorker(t, path, dsn, "one", journal), startWorker(t, path, dsn, "two", journal)}
	board := launch(t, env, "serve", "--auth", "none", "--addr", "127.0.0.1:0")
	l := startLoad(t, storetest.Open(t, dsn, store.Options{Logger: slog.New(slog.DiscardHandler)}))
	l.flows(t, ctx, db)
	until(t, ctx, "both workers listen", func() bool { return count(db, listening) == 2 })

	readOnly := time.Now()
	storetest.Admin(t, primary, `alter system set default_transaction_read_only = on`, `select pg_reload_conf()`)
	for _, w := range workers {
		until(t, ctx, "claims are refused", func() bool { return w.said("claim failed") > 0 })
	}
	before := l.refused.Load()
	until(t, ctx, "it lasts for several leases", func() bool { return time.Since(readOnly) > 8*time.Second && l.refused.Load() > before })
	if status, body := board.page("jobs"); status != 200 && status != 503 || strings.Contains(body, "under the id") {
		t.Errorf("the dashboard answers a read-only database with %d: %s", status, body)
	}
	storetest.Admin(t, primary, `alter system reset default_transaction_read_only`, `select pg_reload_conf()`)
	writable := time.Now()
	l.flows(t, ctx, db)
	t.Logf("read-only for %v; jobs flowed %v after its end", writable.Sub(readOnly).Round(time.Millisecond), time.Since(writable).Round(time.Millisecond))
	for _, w := range workers {
		until(t, ctx, "claims work again", func() bool { return w.said("claim works again") == 1 })
		if n := w.said("claim failed"); n != 1 {
			t.Errorf("one incident was logged %d times: %s", n, w.stderr)
		}
	}
	if n := count(db, lost); n != 0 {
		t.Errorf("%d servers were taken for lost", n)
	}

	alone := storetest.Open(t, standby.DSN("shop"), store.Options{Logger: slog.New(slog.DiscardHandler)})
	heard := make(chan bool, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		heard <- alone.Heard(ctx)
	}()
	killed := time.Now()
	if err := primary.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	for page, status := range map[string]int{"": 200, "jobs": 503, "jobs/1": 503, "servers": 503, "readyz": 503} {
		until(t, ctx, "the dashboard says in words that the database is away: /"+page, func() bool {
			got, body := board.page(page)
			if strings.Contains(body, "under the id") {
				t.Errorf("/%s takes an outage for a fault of its own: %s", page, body)
				return true
			}
			return got == status && strings.Contains(body, "could not be") || strings.Contains(body, "cannot be reached") || strings.Contains(body, "does not answer")
		})
	}
	refused := l.refused.Load()
	until(t, ctx, "enqueues are refused", func() bool { return l.refused.Load() > refused+5 })
	promote := time.Now()
	storetest.Promote(t, standby)
	promoted := time.Now()
	a := l.accepted.Load()
	until(t, ctx, "the first job is accepted", func() bool { return l.accepted.Load() > a })
	first := time.Now()
	l.flows(t, ctx, db)
	t.Logf("away for %v, promoted in %v; accepted again %v and flowing %v after the promotion", promote.Sub(killed).Round(time.Millisecond),
		promoted.Sub(promote).Round(time.Millisecond), first.Sub(promoted).Round(time.Millisecond), time.Since(promoted).Round(time.Millisecond))
	until(t, ctx, "both workers listen at the new primary", func() bool { return count(db, listening) == 2 })
	t.Logf("both listen %v after the promotion", time.Since(promoted).Round(time.Millisecond))
	if !<-heard {
		t.Error("a listener that began on the standby is deaf after the promotion")
	}
	board.get(t, "jobs", func(body string) bool { return !strings.Contains(body, "could not be") })
	for _, w := range workers {
		if len(w.ended) > 0 {
			t.Fatalf("a worker ended: %s", w.stderr)
		}
	}
	l.finished(t, ctx, db, workers...)
}
