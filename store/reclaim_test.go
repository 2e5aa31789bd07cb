package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func (e *engine) reclaim(lossLimit int) store.Reclaimed {
	e.Helper()
	r, err := e.db.Reclaim(e.ctx, e.server, lossLimit)
	if err != nil {
		e.Fatal(err)
	}
	return r
}

// LSE-01: the jobs of a server whose lease ended are enqueued again, history
// names it; past the limit of losses they fail and say so (LSE-06).
func TestReclaimTakesJobsOfLostServers_LSE01_LSE06(t *testing.T) {
	e := writeSetup(t)
	id := e.enqueue(store.NewJob{})[0]
	want := "enqueued 0\n"
	for n := range 3 {
		lost := e.register(fmt.Sprintf("web-%d", n))
		if c := e.claimAs(lost, 1); len(c) != 1 || c[0].Losses != n {
			t.Fatal(c)
		}
		if r := e.reclaim(2); len(r.IDs)+len(r.Servers) != 0 {
			t.Fatalf("a live server's jobs were taken: %+v", r)
		}
		e.expire(lost)
		r := e.reclaim(2)
		if !slices.Equal(r.IDs, []int64{id}) || !slices.Equal(r.Servers, []string{fmt.Sprintf("web-%d", n)}) || !slices.Equal(r.Queues, []string{"default"}) {
			t.Fatalf("%+v", r)
		}
		if e.count(`select count(*) from tekrar.servers where id = $1 and lost_at is not null`, lost) != 1 {
			t.Error("not marked lost")
		}
		want += fmt.Sprintf("processing %d on %d\n", n+1, lost)
		if n < 2 {
			want += fmt.Sprintf("enqueued %d on %d \"Server web-%d lost\"\n", n+1, lost, n)
			e.wantTold(id, fmt.Sprintf("ready %d r0 l%d s0\n", n+1, n+1)+want)
		} else {
			e.wantTold(id, "failed 3 r0 l3 s0 server lost: lost 3 times\n"+want+fmt.Sprintf("failed 3 on %d \"Server web-2 lost, lost 3 times\"", lost))
		}
		e.check()
	}
	if n := e.count(`select sum(n) from tekrar.stats where outcome = 8 and server = $1`, e.server); n != 3 {
		t.Errorf("%d losses counted by the sweeper", n)
	}
	if r := e.reclaim(2); len(r.IDs)+len(r.Servers) != 0 {
		t.Errorf("a second sweep found %+v", r)
	}
}

// More than one batch, and several servers, in one sweep.
func TestReclaimTakesAllAtOnce(t *testing.T) {
	e := writeSetup(t)
	e.enqueue(make([]store.NewJob, 1500)...)
	one, two := e.register("a"), e.register("b")
	if n := len(e.claimAs(one, 1100)) + len(e.claimAs(two, 1100)); n != 1500 {
		t.Fatal(n)
	}
	e.expire(one)
	e.expire(two)
	if r := e.reclaim(3); len(r.IDs) != 1500 || !slices.Equal(r.Servers, []string{"a", "b"}) {
		t.Fatalf("%d of %v", len(r.IDs), r.Servers)
	}
	e.check()
}

// The sweeper is there to renew its own lease: it does not declare itself lost.
func TestASweeperIsNotLostItself(t *testing.T) {
	e := writeSetup(t)
	c := e.running()
	e.expire(e.server)
	if r := e.reclaim(3); len(r.IDs)+len(r.Servers) != 0 {
		t.Fatalf("%+v", r)
	}
	if err := e.db.Renew(e.ctx, e.server, 1e9, true, false); err != nil {
		t.Fatal(err)
	}
	if refused := e.settle(succeeded(c)); len(refused) != 0 {
		t.Error(refused)
	}
	e.check()
}

// LSE-09, LSE-19: running rows of servers that nobody knows (any more) are
// reclaimed like lost ones, so are those of a server that stopped; optional
// columns without a value harm nothing, and a row without a holder cannot be.
func TestReclaimTakesJobsOfUnknownServers_LSE09_LSE19(t *testing.T) {
	e := writeSetup(t)
	e.enqueue(make([]store.NewJob, 3)...)
	stopped := e.register("gone")
	a, b := e.claimAs(stopped, 1)[0], e.claimAs(e.register("x"), 1)[0]
	c := e.claim(1)[0]
	if err := e.db.Stop(e.ctx, stopped); err != nil {
		t.Fatal(err)
	}
	e.exec(`update tekrar.running set server = 4711 where job_id = $1`, b.ID)
	e.exec(`update tekrar.history set server = 4711 where job_id = $1 and state = 3`, b.ID)
	e.exec(`update tekrar.servers set draining_at = null, version = ''`)
	r := e.reclaim(3)
	slices.Sort(r.IDs)
	if !slices.Equal(r.IDs, []int64{a.ID, b.ID}) {
		t.Errorf("took %v, not %d", r.IDs, c.ID)
	}
	e.wantTold(b.ID, "ready 1 r0 l1 s0\nenqueued 0\nprocessing 1 on 4711\nenqueued 1 on 4711 \"Server #4711 lost\"")
	e.check()
	if n := e.count(`select count(*) from information_schema.columns where table_schema = 'tekrar' and is_nullable = 'YES'
		and (table_name = 'running' and column_name not in ('cancel_requested_at', 'cancel_requested_by', 'cancel_acknowledged_at', 'stuck_at') or table_name = 'servers' and column_name = 'lease_until')`); n != 0 {
		t.Errorf("%d columns of the token or the lease may be null", n)
	}
}

// DBX-16: a sweep that met a database without writes does not go on by itself once
// there are writes again: those who are well have not renewed their leases yet.
func TestReclaimIsNotTriedAgainAfterAnOutage_DBX16(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t))
	other := e.register("two")
	e.expire(other)
	e.exec(`create sequence tekrar.tries`)
	e.exec(`create function tekrar.refuse_once() returns trigger language plpgsql as $$ begin
  if nextval('tekrar.tries') = 1 then raise 'read-only' using errcode = '25006'; end if; return new; end $$`)
	e.exec(`create trigger refuse_once before update on tekrar.servers for each row execute function tekrar.refuse_once()`)
	if r, err := e.db.Reclaim(e.ctx, e.server, 3); !store.IsReadOnly(err) || len(r.Servers) > 0 {
		t.Errorf("the sweep gives %v, %v", r, err)
	}
	r, err := e.db.Reclaim(e.ctx, e.server, 3)
	if err != nil || len(r.Servers) != 1 {
		t.Errorf("the next one gives %v, %v", r, err)
	}
}
