package jobs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// DBX-15: a claim that hangs behind a lock does not hold a stop up, and takes
// nothing with it.
func TestDBX15StopDuringHungClaim(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	r := startOn(t, db, quickly(), on(nothing))
	eventually(t, "the server is live", func() bool { return live(t, db) == 1 })
	lock, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback()
	if _, err := lock.Exec(`lock table tekrar.jobs in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim hangs", func() bool {
		return ask[int](t, db, `select count(*) from pg_locks where not granted and relation = 'tekrar.jobs'::regclass`) > 0
	})
	asked := time.Now()
	r.stop()
	if took := time.Since(asked); took > 8*time.Second {
		t.Errorf("Run returned %v after its context's end", took)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	next := startOn(t, db, quickly(), on(nothing))
	defer next.stop()
	d := next.waitFor(next.put(task{}), store.Succeeded)
	same(t, []string{"enqueued", "processing", "succeeded"}, told(d))
	next.stop()
	check(t, db)
}

// DBX-05: handlers that hold every connection of the pool they share with the
// client, and enqueue meanwhile, starve neither claims nor settles nor heartbeats;
// that the pool was made narrow is said at the start.
func TestDBX05HandlersHogThePool(t *testing.T) {
	t.Parallel()
	log := &loud{level: slog.LevelWarn}
	cfg := quickly()
	cfg.Workers, cfg.Logger = 20, slogOf(log)
	ready := make(chan struct{})
	r := start(t, cfg, func(c *jobs.Client) {
		c.DB().SetMaxOpenConns(2)
		jobs.Handle(c, func(ctx context.Context, j *jobs.Job[task]) error {
			<-ready
			tx, err := c.DB().BeginTxx(ctx, nil) // 2 connections for 20 handlers
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(ctx, `select 1`); err != nil {
				return err
			}
			if _, err := c.Enqueue(ctx, greet{}); err != nil {
				return err
			}
			if _, err := c.EnqueueTx(ctx, tx, greet{}); err != nil {
				return err
			}
			return tx.Commit()
		}, jobs.Retry(jobs.NoRetry()))
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil })
	})
	if _, err := r.EnqueueMany(t.Context(), tasks(60)); err != nil {
		t.Fatal(err)
	}
	close(ready)
	eventually(t, "all have run", func() bool {
		return ask[int](t, r.db, `select count(*) from tekrar.history where state = 4`) == 180
	})
	if said := log.said(); len(said) != 1 || !strings.Contains(said[0], "field=Config.Workers workers=20 connections=2") {
		t.Errorf("said %q", said)
	}
}
