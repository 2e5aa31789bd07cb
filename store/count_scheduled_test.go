package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func retried(c store.Claimed, cause store.Cause, delay time.Duration) store.Settled {
	return store.Settled{ID: c.ID, Attempt: c.Attempt, State: store.Scheduled, Outcome: store.OutcomeRetried, Cause: cause, Delay: delay,
		Retry: c.Retry + 1, FailedReason: fmt.Sprintf("An error occurred during attempt %d", c.Attempt), Reason: "Retry attempt 1 of 3: x"}
}

// counted holds every count of scheduled jobs against their rows.
func (e *engine) counted(kinds, queues []string) {
	e.Helper()
	counts, err := e.db.Counts(e.ctx)
	if n := e.count(`select count(*) from tekrar.scheduled`); err != nil || counts[store.Scheduled] != (store.Count{N: int64(n)}) {
		e.Errorf("counted %v, there are %d, %v", counts[store.Scheduled], n, err)
	}
	n, next, err := e.db.Retrying(e.ctx)
	pending, err2 := e.db.Pending(e.ctx)
	if want := e.count(`select count(*) from tekrar.scheduled where cause = 2`); err != nil || err2 != nil || n != int64(want) || pending.Retrying != n ||
		(next == nil) != (n == 0) || n > 0 && (!next.Equal(*pending.NextRetry) || e.count(`select count(*) from tekrar.scheduled where cause = 2 and run_at < $1`, *next) != 0) {
		e.Errorf("retrying %d, next %v, there are %d, %+v, %v, %v", n, next, want, pending, err, err2)
	}
	for _, kind := range append(kinds, "", "none") {
		for _, queue := range append(queues, "", "none") {
			for cause := range store.CauseSnooze + 1 {
				f := store.JobFilter{State: store.Scheduled, Kind: kind, Queue: queue, Cause: cause, Limit: 500}
				c, err := e.db.CountJobs(e.ctx, f)
				if listed := len(walk(e.T, e.db, f)); err != nil || c != (store.Count{N: int64(listed)}) {
					e.Errorf("%+v: counted %v, listed %d, %v", f, c, listed, err)
				}
			}
		}
	}
}

// Whatever schedules jobs or takes them away, in whatever order and at once, what is
// kept of their number stays what they say: enqueues, also of unique jobs, promotions,
// retries and snoozes, requeues, deletions, restores, operations on all of a list, losses,
// retention, and sweeps in between.
func TestScheduledCountsFollowEveryMove(t *testing.T) {
	e := writeSetup(t)
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 2))
			server := e.register(fmt.Sprint("w", w))
			for i := range 25 {
				e.enqueue(store.NewJob{In: time.Hour}, store.NewJob{In: time.Hour, Queue: "other"}, store.NewJob{In: time.Microsecond, Kind: "k2"},
					store.NewJob{At: time.Now().Add(time.Hour), Kind: "k2", Priority: 1}, store.NewJob{}, store.NewJob{}, store.NewJob{}, store.NewJob{In: -1})
				err := e.db.Tx(e.ctx, func(tx *sqlx.Tx) error {
					_, err := e.db.EnqueueUnique(e.ctx, tx, []store.NewJob{{Queue: "default", Kind: "k", Args: "{}", In: time.Hour,
						Unique: &store.Unique{Hash: [32]byte{byte(i % 7)}, Scope: store.UniqueWhileWaiting}}}, nil)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				var batch []store.Settled
				for _, c := range e.claimAs(server, 6) {
					switch rnd.IntN(4) {
					case 0:
						batch = append(batch, retried(c, store.CauseRetry, time.Hour))
					case 1:
						batch = append(batch, retried(c, store.CauseRetry, 0))
					case 2:
						s := retried(c, store.CauseSnooze, time.Minute)
						s.Outcome, s.FailedReason, s.Reason, s.Snoozes, s.Retry = store.OutcomeSnoozed, "", "Snoozed", c.Snoozes+1, c.Retry
						batch = append(batch, s)
					case 3:
						batch = append(batch, succeeded(c))
					}
				}
				if _, err := e.db.Settle(e.ctx, server, batch); err != nil {
					t.Error(err)
				}
				e.promote()
				var ids []int64
				if err := e.db.SelectContext(e.ctx, &ids, `select job_id from tekrar.scheduled order by random() limit 5`); err != nil {
					t.Error(err)
				}
				var targets []store.Target
				for _, id := range ids {
					targets = append(targets, store.Target{ID: id, Expected: store.Scheduled})
				}
				switch rnd.IntN(5) {
				case 0:
					_, err = e.db.Requeue(e.ctx, "ann", true, targets) // run now
				case 1:
					if _, err = e.db.Delete(e.ctx, "ann", targets); err == nil {
						for i := range targets {
							targets[i].Expected = store.Deleted
						}
						_, err = e.db.Restore(e.ctx, "ann", targets[:2])
					}
				case 2:
					var id int64
					if id, err = e.db.BeginBulk(e.ctx, "ann", store.NewBulk{Action: "delete", SeenAt: time.Now().Add(-time.Second), Expected: 1,
						Filter: store.JobFilter{State: store.Scheduled, Kind: "k2"}}); err == nil {
						drain(t, e.db, id)
					}
				case 3:
					err = e.db.FoldCounts(e.ctx)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	lost := e.register("lost")
	e.enqueue(store.NewJob{})
	e.claimAs(lost, 100)
	e.expire(lost)
	e.reclaim(0)
	e.check()
	if e.count(`select count(*) from tekrar.scheduled`) < 50 || e.count(`select count(distinct (queue, kind, cause)) from tekrar.scheduled`) < 4 {
		t.Error("hardly anything is scheduled")
	}
	// By hand, as somebody at psql.
	e.exec(`update tekrar.scheduled set cause = 2, run_at = run_at + interval '1 hour' where job_id % 3 = 0`)
	for range 2 {
		e.check()
		e.counted([]string{"k", "k2"}, []string{"default", "other"})
		if err := e.db.FoldCounts(e.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.count(`select count(*) from tekrar.scheduled_changes`) + e.count(`select count(*) from tekrar.scheduled_counts where n = 0`); n != 0 {
		t.Errorf("%d rows are left that say nothing", n)
	}
	if _, err := e.db.Expire(e.ctx, store.Deleted, 0); err != nil {
		t.Fatal(err)
	}
	e.counted([]string{"k", "k2"}, []string{"default", "other"})
	e.exec(`truncate tekrar.scheduled`)
	if n := e.count(`select count(*) from tekrar.scheduled_counts`) + e.count(`select count(*) from tekrar.scheduled_changes`); n != 0 {
		t.Errorf("%d rows are left of no job", n)
	}
}

// Two servers schedule retries of one kind at once, and a promotion takes a third:
// nobody waits for another's count, nor for the sweep that adds counts up.
func TestScheduledOfOneKindWaitForNobody(t *testing.T) {
	r := newRace(t, "")
	a, b, other := r.running(), r.running(), r.register("two")
	r.enqueue(store.NewJob{})
	c := r.claimAs(other, 1)[0]
	r.settle(retried(b, store.CauseRetry, 0))
	if err := r.db.FoldCounts(r.ctx); err != nil {
		t.Fatal(err)
	}
	promotes := r.hold()
	if ids, err := store.PromoteIn(r.ctx, r.first, promotes); err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	held := r.hold()
	if _, err := store.SettleIn(r.ctx, r.first, held, r.server, retried(a, store.CauseRetry, time.Hour)); err != nil {
		t.Fatal(err)
	}
	second := r.second.MustBegin()
	defer second.Rollback()
	if _, err := second.Exec(`set local lock_timeout = '1ms'`); err != nil { // any wait is an error
		t.Fatal(err)
	}
	if _, err := store.SettleIn(r.ctx, r.second, second, other, retried(c, store.CauseRetry, time.Hour)); err != nil {
		t.Fatalf("it waited: %v", err)
	}
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := r.db.FoldCounts(r.ctx); err != nil {
		t.Fatal(err)
	}
	r.commit(held)
	r.commit(promotes)
	r.check()
	if n, next, err := r.db.Retrying(r.ctx); err != nil || n != 2 || next == nil {
		t.Error(n, next, err)
	}
}

// The checker sees a count that is wrong.
func TestScheduledCountsAreChecked(t *testing.T) {
	for name, wrong := range map[string]string{
		"change": `insert into tekrar.scheduled_changes values (1, 1, 'default', 'k')`,
		"count":  `insert into tekrar.scheduled_counts values (-2, 3, 'default', 'other')`,
	} {
		t.Run(name, func(t *testing.T) {
			e := writeSetup(t)
			e.enqueue(store.NewJob{In: time.Hour})
			e.check()
			e.exec(wrong)
			if err := e.db.Check(e.ctx); err == nil || !strings.Contains(err.Error(), "scheduled jobs of queue default, kind") {
				t.Error(err)
			}
		})
	}
}

// A program of before the step goes on beside it, and what it schedules is counted: what
// stood before, and what comes and goes later.
func TestScheduledOfBeforeAreCounted(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{})
	pool, p := migratedTo(t, db, 12)
	loadStates(t, pool, 70)
	if _, err := p.UpTo(t.Context(), 13); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, pool, `delete from scheduled where job_id <= 20`,
		`insert into scheduled (job_id, queue, kind, run_at, cause) select id, queue, kind, now(), 2 from jobs where id = 5`)
	counts, err := db.Counts(t.Context())
	n, next, err2 := db.Retrying(t.Context())
	if err != nil || err2 != nil || counts[store.Scheduled].N != 9 || n != 1 || next == nil {
		t.Error(counts, n, next, err, err2)
	}
}

// The trigger finds its tables in a schema of any name, and of a new one; the path of
// the caller's transaction stays as it was.
func TestScheduledAreCountedInAnySchema(t *testing.T) {
	t.Parallel()
	dsn := storetest.EmptyDSN(t)
	enqueue := func(schema string) *store.DB {
		db := storetest.Open(t, dsn, store.Options{Schema: schema})
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := db.Tx(t.Context(), func(tx *sqlx.Tx) (err error) {
			if _, err := tx.Exec(`set local search_path = public, pg_temp`); err != nil {
				return err
			}
			if _, err = db.EnqueueIn(t.Context(), tx, []store.NewJob{{Queue: "q", Kind: "k", Args: "{}", In: time.Hour}}, nil); err != nil {
				return err
			}
			var path string
			if err = tx.Get(&path, `show search_path`); err == nil && path != "public, pg_temp" {
				t.Errorf("the path is now %q", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := enqueue(`a"b; c`)
	storetest.Exec(t, db, `alter schema "a""b; c" rename to "Later"`)
	counts, err := enqueue("Later").Counts(t.Context())
	if err != nil || counts[store.Scheduled].N != 2 {
		t.Error(counts, err)
	}
}
