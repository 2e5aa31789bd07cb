package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// everything runs each statement of the write side once and looks at what came
// of it through the read side only, so that it works in any schema.
func everything(t *testing.T, db *store.DB) {
	t.Helper()
	ctx := t.Context()
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	server, err := db.Register(ctx, store.NewServer{Name: "n'1", Host: "h", Lease: time.Hour})
	ok("register", err)
	ok("publish", db.PublishKinds(ctx, []store.NewKind{{Kind: "k", Queue: "o'neil", MaxRetries: 3, Policy: "{}"}}))
	job := store.NewJob{Queue: "o'neil", Kind: "k", Args: `{"id":1970670598291982290}`, Policy: `{"a":1}`}
	created, err := db.Enqueue(ctx, []store.NewJob{job, job, job, job, {Queue: "o'neil", Kind: "k", Args: "{}", In: time.Microsecond}}, []string{"o'neil"})
	ok("enqueue", err)
	ok("enqueue in", db.Tx(ctx, func(tx *sqlx.Tx) error {
		_, err := db.EnqueueIn(ctx, tx, []store.NewJob{job}, []string{"o'neil"})
		return err
	}))
	ok("pause", db.PauseQueue(ctx, "ann", "o'neil"))
	ok("resume", db.ResumeQueue(ctx, "ann", "o'neil"))
	until(t, "the scheduled job is due", func() bool { p, err := db.Promote(ctx); ok("promote", err); return len(p.IDs) == 1 })
	claimed, err := db.Claim(ctx, server, lanes("o'neil"), []string{"k"}, 10)
	ok("claim", err)
	if len(claimed) != 6 || !slices.ContainsFunc(claimed, func(c store.Claimed) bool { return c.Args == `{"id": 1970670598291982290}` }) {
		t.Fatalf("claimed %+v", claimed)
	}
	held, err := db.Held(ctx, server, nil)
	ok("held", err)
	if len(held) != 6 {
		t.Fatalf("held %+v", held)
	}
	slices.SortFunc(claimed, func(a, b store.Claimed) int { return int(a.ID - b.ID) })
	boom := store.Settled{ID: created[1].ID, Attempt: 1, State: store.Scheduled, Cause: store.CauseRetry, Delay: time.Hour, Retry: 1, Outcome: store.OutcomeRetried,
		FailedReason: "An error occurred during attempt 1", FailedData: `{"error":"it's \\ \"bad\""}`, Reason: "Retry attempt 1 of 3: it's"}
	final := store.Settled{ID: created[2].ID, Attempt: 1, State: store.Failed, Outcome: store.OutcomePermanent, Reason: "An error occurred during attempt 1", ErrorLine: `it's \ "bad", {x}`}
	refused, err := db.Settle(ctx, server, []store.Settled{succeeded(claimed[0]), boom, final, {ID: created[0].ID, Attempt: 9, State: store.Succeeded, Outcome: 1}})
	ok("settle", err)
	if len(refused) != 1 {
		t.Fatalf("refused %v", refused)
	}
	done, err := db.Unsettled(ctx, server, []store.Token{{ID: created[0].ID, Attempt: 1}, {ID: created[3].ID, Attempt: 1}})
	ok("unsettled", err)
	if !done[store.Token{ID: created[0].ID, Attempt: 1}] || done[store.Token{ID: created[3].ID, Attempt: 1}] {
		t.Errorf("done %v", done)
	}
	move := func(what string, f func() ([]store.Moved, error)) {
		t.Helper()
		m, err := f()
		ok(what, err)
		if m[0].Err != nil {
			t.Fatalf("%s: %+v", what, m)
		}
	}
	move("requeue", func() ([]store.Moved, error) {
		return db.Requeue(ctx, "o'ann", true, []store.Target{{ID: created[2].ID, Expected: store.Failed}})
	})
	move("delete", func() ([]store.Moved, error) {
		return db.Delete(ctx, "o'ann", []store.Target{{ID: created[3].ID, Expected: store.Processing}})
	})
	taken, _, err := db.Taken(ctx, server, []store.Token{{ID: created[3].ID, Attempt: 1}})
	ok("taken", err)
	if len(taken) != 1 {
		t.Errorf("taken %v", taken)
	}
	move("restore", func() ([]store.Moved, error) {
		return db.Restore(ctx, "o'ann", []store.Target{{ID: created[3].ID, Expected: store.Deleted}})
	})
	operations(t, db)
	ok("renew", db.Renew(ctx, server, time.Hour, true, true))
	ok("stop", db.Stop(ctx, server))
	took, err := db.Reclaim(ctx, 0, 3)
	ok("reclaim", err)
	if len(took.IDs) != 2 {
		t.Errorf("reclaimed %+v", took)
	}
	ok("check", db.Check(ctx))
	ok("notify", db.NotifyQueues(ctx, []string{"o'neil"}))
	ok("notify", db.NotifyWatching(ctx))
	ok("notify", db.NotifyChanges(ctx, "1,2"))
	n, err := db.Expire(ctx, store.Succeeded, 0)
	ok("expire", err)
	if n != 1 {
		t.Errorf("expired %d", n)
	}
	ok("fold", db.FoldStats(ctx, 0))
	ok("prune", db.PruneServers(ctx, 0))
	counts, err := db.Counts(ctx)
	ok("counts", err)
	if counts[store.Enqueued].N != 4 || counts[store.Scheduled].N != 1 || counts[store.Succeeded].N != 0 {
		t.Errorf("counts %+v", counts)
	}
}

func TestEveryStatement(t *testing.T) {
	t.Parallel()
	everything(t, storetest.New(t))
}

// ARG-10: the same with parameters and results in binary.
func TestEveryStatementInBinaryMode_ARG10(t *testing.T) {
	t.Parallel()
	everything(t, storetest.Open(t, with(storetest.New(t).DSN(), "binary_parameters", "yes"), store.Options{}))
}

// DBX-09, DBX-11: any schema, quoted; nothing appears elsewhere.
func TestEveryStatementInAnySchema_DBX09_DBX11(t *testing.T) {
	t.Parallel()
	dsn := storetest.EmptyDSN(t)
	for _, schema := range []string{"Jobs-2", `a"b'c`, "tekrar.v2", strings.Repeat("ü", 31) + "x"} {
		t.Run(schema, func(t *testing.T) {
			db := storetest.Open(t, dsn, store.Options{Schema: schema})
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			everything(t, db)
		})
	}
}

// DBX-08: serializable by the database's or the address's default: claims and
// settles of several workers at once all work, each job runs once.
func TestSerializableByDefaultFailsNothing_DBX08(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	newEngine(t, storetest.Open(t, dsn, store.Options{})).exec(`do $$ begin
		execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$`)
	for by, dsn := range map[string]string{"database": dsn, "address": with(storetest.DSN(t), "default_transaction_isolation", "serializable")} {
		t.Run(by, func(t *testing.T) {
			e := newEngine(t, storetest.Open(t, dsn, store.Options{}))
			var level string
			if err := e.db.GetContext(e.ctx, &level, `select reset_val from pg_settings where name = 'default_transaction_isolation'`); err != nil || level != "serializable" {
				t.Fatal(level, err)
			}
			everything(t, e.db)
			e.enqueue(make([]store.NewJob, 200)...)
			var wg sync.WaitGroup
			for range 4 {
				db := storetest.Open(t, dsn, store.Options{})
				wg.Go(func() {
					for {
						claimed, err := db.Claim(e.ctx, e.server, lanes("default"), []string{"k"}, 10)
						if err != nil || len(claimed) == 0 {
							if err != nil {
								t.Error(err)
							}
							return
						}
						for _, c := range claimed {
							if refused, err := db.Settle(e.ctx, e.server, []store.Settled{succeeded(c)}); err != nil || len(refused) != 0 {
								t.Error(refused, err)
							}
						}
					}
				})
			}
			wg.Wait()
			if n := e.count(`select coalesce(sum(n), 0) from tekrar.stats where server = $1 and outcome = 1`, e.server); n != 200 {
				t.Errorf("%d of 200 jobs succeeded", n)
			}
		})
	}
}
