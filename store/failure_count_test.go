package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func failedIn(group int64, c store.Claimed) store.Settled {
	return store.Settled{ID: c.ID, Attempt: c.Attempt, State: store.Failed, Outcome: store.OutcomePermanent,
		Reason: fmt.Sprintf("An error occurred during attempt %d", c.Attempt), ErrorType: "E", ErrorLine: fmt.Sprint("line ", group), Fingerprint: group}
}

// Two servers fail jobs of one group at once: neither waits for the other, nor for a
// person who requeues a third, nor for the sweep that adds counts up.
func TestFailuresOfOneGroupWaitForNobody(t *testing.T) {
	r := newRace(t, "move: done")
	a, x, other := r.running(), r.running(), r.register("two") // a server counts its outcomes in rows of its own
	r.enqueue(store.NewJob{})
	b := r.claimAs(other, 1)[0]
	r.settle(failedIn(7, x))
	if err := r.db.FoldCounts(r.ctx); err != nil {
		t.Fatal(err)
	}
	move := r.moveApart(r.first, "requeue", store.Target{ID: x.ID, Expected: store.Failed})
	<-r.reached // not committed
	held := r.hold()
	if _, err := store.SettleIn(r.ctx, r.first, held, r.server, failedIn(7, a)); err != nil {
		t.Fatal(err)
	}
	second := r.second.MustBegin()
	defer second.Rollback()
	if _, err := second.Exec(`set local lock_timeout = '1ms'`); err != nil { // any wait is an error
		t.Fatal(err)
	}
	if _, err := store.SettleIn(r.ctx, r.second, second, other, failedIn(7, b)); err != nil {
		t.Fatalf("it waited: %v", err)
	}
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := r.db.FoldCounts(r.ctx); err != nil {
		t.Fatal(err)
	}
	r.commit(held)
	r.goOn()
	must(r, move)
	r.check()
	if f, err := r.db.FailureGroups(r.ctx, false, 5); err != nil || f.JobsTotal != 2 || f.Groups[0].Fingerprint != 7 || f.Groups[0].N != 2 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Whatever moves failed jobs, in whatever order and at once, what is kept of their
// groups stays what they say: settles, requeues, deletions, restores, operations on
// all of a group, losses, programs that know nothing of it, and sweeps in between.
func TestFailureCountsFollowEveryMove(t *testing.T) {
	e := writeSetup(t)
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			server := e.register(fmt.Sprint("w", w))
			for range 25 {
				e.enqueue(make([]store.NewJob, 8)...)
				var batch []store.Settled
				for _, c := range e.claimAs(server, 6) {
					batch = append(batch, failedIn(int64(rnd.IntN(4)), c))
				}
				if _, err := e.db.Settle(e.ctx, server, batch); err != nil {
					t.Error(err)
				}
				var ids []int64
				if err := e.db.SelectContext(e.ctx, &ids, `select job_id from tekrar.failed order by random() limit 5`); err != nil {
					t.Error(err)
				}
				var targets []store.Target
				for _, id := range ids {
					targets = append(targets, store.Target{ID: id, Expected: store.Failed})
				}
				var err error
				switch rnd.IntN(5) {
				case 0:
					_, err = e.db.Requeue(e.ctx, "ann", true, targets)
				case 1:
					if _, err = e.db.Delete(e.ctx, "ann", targets); err == nil {
						for i := range targets {
							targets[i].Expected = store.Deleted
						}
						_, err = e.db.Restore(e.ctx, "ann", targets)
					}
				case 2:
					group := int64(rnd.IntN(4))
					var id int64
					if id, err = e.db.BeginBulk(e.ctx, "ann", store.NewBulk{Action: "requeue", SeenAt: time.Now().Add(time.Hour), Expected: 1,
						Filter: store.JobFilter{State: store.Failed, Kind: "k", Group: &group}}); err == nil {
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
	if e.count(`select count(*) from tekrar.failed`) < 10 {
		t.Error("hardly anything failed")
	}
	// By hand, as somebody at psql.
	e.exec(`update tekrar.failed set fingerprint = 99, failed_at = failed_at - interval '2 hours', outcome = 3 where job_id % 3 = 0`)
	e.exec(`update tekrar.failed set failed_at = now() - interval '3 days' where job_id % 5 = 0`)
	for range 2 {
		e.check()
		if err := e.db.FoldCounts(e.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.count(`select count(*) from tekrar.failure_changes`); n != 0 {
		t.Errorf("%d changes are left", n)
	}
	counts, err := e.db.Counts(e.ctx)
	if n := e.count(`select count(*) from tekrar.failed`); err != nil || counts[store.Failed] != (store.Count{N: int64(n)}) {
		t.Errorf("counted %v, there are %d, %v", counts[store.Failed], n, err)
	}
	e.exec(`truncate tekrar.failed`)
	if n := e.count(`select count(*) from tekrar.failure_groups`) + e.count(`select count(*) from tekrar.failure_times`); n != 0 {
		t.Errorf("%d rows are left of no job", n)
	}
}

// The checker sees a count that is wrong.
func TestFailureCountsAreChecked(t *testing.T) {
	for name, wrong := range map[string]string{
		"change": `insert into tekrar.failure_changes values (now() - interval '3 days', 1, 1, 0, 0, 0, 0, 0, 'k')`,
		"time":   `insert into tekrar.failure_times values (date_bin('10 minutes', now(), 'epoch'), 1, 1, 'k')`,
		"group":  `insert into tekrar.failure_groups values (5, 0, 0, 1, 0, 0, 0, 'other')`,
	} {
		t.Run(name, func(t *testing.T) {
			e := writeSetup(t)
			e.settle(failedIn(1, e.running()))
			e.check()
			e.exec(wrong)
			if err := e.db.Check(e.ctx); err == nil || !strings.Contains(err.Error(), "failed jobs of kind") {
				t.Error(err)
			}
		})
	}
}

// A program of before the step goes on beside it, and its failures are counted: what
// stood failed before, and what comes and goes later.
func TestFailuresOfBeforeAreCounted(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{})
	pool, p := migratedTo(t, db, 11)
	loadStates(t, pool, 70)
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, pool, `delete from failed where job_id <= 20`,
		`insert into failed (job_id, queue, kind, attempt, snoozes) select id, queue, kind, 4, 2 from jobs where id = 5`)
	if err := db.Check(t.Context()); err == nil || strings.Contains(err.Error(), "failed jobs of kind") {
		t.Error(err) // other checks see that rows were moved by hand
	}
	counts, err := db.Counts(t.Context())
	if err != nil || counts[store.Failed].N != 8 {
		t.Error(counts, err)
	}
}
