package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Rows 47 to 67 of Hangfire's suite, as far as the database decides them: who may
// take a job, who may end it, and what a scheduled one waits for.

func TestConformanceClaims(t *testing.T) {
	e := writeSetup(t)
	e.row("47 success removes the job from where it was taken", func(e *engine) {
		c := e.running()
		e.settle(succeeded(c))
		e.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\nsucceeded 1 on %[1]d", e.server))
	})
	e.row("50 of all states only enqueued jobs are taken: no message can name another", func(e *engine) {
		var enqueued int64
		for _, s := range store.States {
			if id := put(e.T, e.db, past{states: way(s)})[0]; s == store.Enqueued {
				enqueued = id
			}
		}
		if c := e.claim(100); len(c) != 1 || c[0].ID != enqueued {
			e.Errorf("claimed %+v, want job %d", c, enqueued)
		}
	})
	e.row("51 a server that may not process gets no job", func(e *engine) {
		id := e.enqueue(store.NewJob{})[0]
		ended := e.register("ended")
		e.expire(ended)
		if c := e.claimAs(ended, 1); len(c) != 0 {
			e.Errorf("claimed %+v", c)
		}
		e.wantTold(id, "ready 0 r0 l0 s0\nenqueued 0")
		e.claim(1)
	})
	e.row("52 succeeded only from processing, and only by the attempt that holds it", func(e *engine) {
		for _, s := range store.States {
			id := put(e.T, e.db, past{states: way(s)})[0]
			hot, _, _ := strings.Cut(e.tell(id), "\n")
			refused := e.settle(store.Settled{ID: id, Attempt: 7, State: store.Succeeded, Outcome: store.OutcomeSucceeded, Worker: 1})
			after := e.tell(id)
			if len(refused) != 1 || !strings.HasPrefix(after, hot) || !strings.HasSuffix(after, fmt.Sprintf(`late 7 on %d "Too late: the job had been taken from this attempt"`, e.server)) {
				e.Errorf("%s: refused %v\n%s", s, refused, after)
			}
		}
	})
	e.row("57 processing carries the server's id", func(e *engine) {
		c := e.running()
		e.wantTold(c.ID, fmt.Sprintf("running 1 r0 l0 s0 on %[1]d\nenqueued 0\nprocessing 1 on %[1]d", e.server))
	})
	e.row("58 a token is good until anything of it changed", func(e *engine) {
		taken := func(server int64, attempt int, id int64) bool {
			list, _, err := e.db.Taken(e.ctx, server, []store.Token{{ID: id, Attempt: attempt}})
			if err != nil {
				e.Fatal(err)
			}
			return len(list) == 1
		}
		ended, deleted, held := e.running(), e.running(), e.running()
		e.settle(succeeded(ended))
		e.moved(e.db.Delete(e.ctx, "ann", []store.Target{{ID: deleted.ID, Expected: store.Processing}}))
		for name, c := range map[string]struct {
			server  int64
			id      int64
			attempt int
			want    bool
		}{
			"unchanged": {e.server, held.ID, 1, false}, "no job": {e.server, 404404, 1, true}, "succeeded": {e.server, ended.ID, 1, true},
			"deleted": {e.server, deleted.ID, 1, true}, "another server": {e.server + 1, held.ID, 1, true}, "another attempt": {e.server, held.ID, 2, true},
		} {
			if got := taken(c.server, c.attempt, c.id); got != c.want {
				e.Errorf("%s: taken is %v", name, got)
			}
		}
	})
}

func TestConformanceDelayed(t *testing.T) {
	e := writeSetup(t)
	e.row("60 nothing due: nothing changes", func(e *engine) {
		id := e.enqueue(store.NewJob{In: time.Hour})[0]
		if p := e.promote(); len(p.IDs) != 0 {
			e.Errorf("%+v", p)
		}
		e.wantTold(id, "scheduled 0 r0 l0 s0 cause 1\nscheduled 0")
	})
	e.row("61 due: enqueued, by the scheduler", func(e *engine) {
		id := e.enqueue(store.NewJob{In: time.Hour})[0]
		e.exec(`update tekrar.scheduled set run_at = clock_timestamp() where job_id = $1`, id)
		if p := e.promote(); !slices.Equal(p.IDs, []int64{id}) {
			e.Errorf("%+v", p)
		}
		e.wantTold(id, "ready 0 r0 l0 s0\nscheduled 0\nenqueued 0 \"Triggered by scheduler\"")
	})
	e.row("62 a job that left scheduled leaves no entry: the entry is the state", func(e *engine) {
		id := e.enqueue(store.NewJob{In: time.Hour})[0]
		e.moved(e.db.Delete(e.ctx, "ann", []store.Target{{ID: id, Expected: store.Scheduled}}))
		if n := e.count(`select count(*) from tekrar.scheduled where job_id = $1`, id); n != 0 {
			e.Errorf("%d entries are left", n)
		}
	})
	e.row("64 one odd entry does not stop the others", func(e *engine) {
		ids := e.enqueue(store.NewJob{In: time.Hour}, store.NewJob{In: time.Hour, Queue: strings.Repeat("🐢", 200), Kind: strings.Repeat("ğ", 200), Priority: -4}, store.NewJob{In: time.Hour})
		e.exec(`update tekrar.scheduled set attempt = 2147483647, retry = 2147483647, snoozes = 2147483647, losses = 32767, cause = 99 where job_id = $1`, ids[1])
		e.exec(`update tekrar.scheduled set run_at = '-infinity' where job_id = $1`, ids[0])
		e.exec(`update tekrar.scheduled set run_at = clock_timestamp() where job_id = any(array[$1, $2]::bigint[])`, ids[1], ids[2])
		if p := e.promote(); !slices.Equal(p.IDs, ids) {
			e.Errorf("promoted %v, want %v", p.IDs, ids)
		}
		e.exec(`delete from tekrar.ready where job_id = $1`, ids[1]) // no claim could write such counters
		e.exec(`delete from tekrar.history where job_id = $1`, ids[1])
		e.exec(`delete from tekrar.jobs where id = $1`, ids[1])
	})
	e.check()
}

// Row 65: two servers look at once. There is no lock to time out on: the second
// takes what the first has not locked.
func TestConformanceTwoSchedulers(t *testing.T) {
	r := newRace(t, "")
	t.Run("65 a lock is nothing to wait for, and no error", func(t *testing.T) {
		ids := r.enqueue(store.NewJob{In: time.Hour}, store.NewJob{In: time.Hour})
		r.exec(`update tekrar.scheduled set run_at = clock_timestamp() where job_id = $1`, ids[0])
		tx := r.hold()
		if got, err := store.PromoteIn(r.ctx, r.first, tx); err != nil || !slices.Equal(got, ids[:1]) {
			t.Fatal(got, err)
		}
		r.exec(`update tekrar.scheduled set run_at = clock_timestamp() where job_id = $1`, ids[1])
		if p, err := r.second.Promote(r.ctx); err != nil || !slices.Equal(p.IDs, ids[1:]) {
			t.Errorf("%+v, %v", p, err)
		}
		r.commit(tx)
		r.wantTold(ids[0], "ready 0 r0 l0 s0\nscheduled 0\nenqueued 0 \"Triggered by scheduler\"")
	})
	r.check()
}

func TestConformanceLeases(t *testing.T) {
	e := writeSetup(t)
	e.row("66 an unfinished job comes back, a renewal keeps it, an end removes only its own row", func(e *engine) {
		a, b := e.running(), e.running()
		until := func() (at time.Time) {
			if err := e.db.GetContext(e.ctx, &at, `select lease_until from tekrar.servers where id = $1`, e.server); err != nil {
				e.Fatal(err)
			}
			return at
		}
		before := until()
		if err := e.db.Renew(e.ctx, e.server, 2*time.Hour, true, false); err != nil || !until().After(before) {
			e.Errorf("the renewal moved the lease from %v to %v, %v", before, until(), err)
		}
		e.settle(succeeded(a))
		if n := e.count(`select count(*) from tekrar.running where job_id = $1`, b.ID); n != 1 {
			e.Error("the end of one job took another's row")
		}
		e.settle(store.Settled{ID: b.ID, Attempt: 1, State: store.Enqueued, Outcome: store.OutcomeInterrupted, Reason: "Interrupted by shutdown"})
		if c := e.claim(1); len(c) != 1 || c[0].ID != b.ID || c[0].Attempt != 2 {
			e.Errorf("claimed %+v", c)
		}
	})
	e.row("67 a job whose lease ended is taken again", func(e *engine) {
		lost := e.register("lost")
		id := e.enqueue(store.NewJob{})[0]
		e.claimAs(lost, 1)
		e.expire(lost)
		e.reclaim(3)
		if c := e.claim(1); len(c) != 1 || c[0].ID != id || c[0].Attempt != 2 || c[0].Losses != 1 {
			e.Errorf("claimed %+v", c)
		}
		if err := e.db.Renew(e.ctx, lost, time.Hour, true, false); !errors.Is(err, store.ErrLeaseLost) {
			e.Errorf("the lost server renews: %v", err)
		}
	})
	e.check()
}
