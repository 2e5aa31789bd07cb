package store_test

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// cut ends the backends of second that wait for a lock.
func (r *race) cut() {
	r.Helper()
	if n := r.count(`select count(pg_terminate_backend(pid)) from pg_stat_activity
		where datname = current_database() and application_name = 'second' and wait_event_type = 'Lock'`); n != 1 {
		r.Fatalf("%d connections ended, want 1", n)
	}
}

// A settle whose connection dies before it happened: its token is open, and the
// same process settles it over a new connection.
func TestASettleThatWasCutOffIsSettledAgain(t *testing.T) {
	r := newRace(t, "")
	c := r.running()
	tx := r.hold()
	if _, err := tx.Exec(`select 1 from tekrar.running for update`); err != nil {
		t.Fatal(err)
	}
	settle := apart(func() ([]store.Token, error) { return r.second.Settle(r.ctx, r.server, []store.Settled{succeeded(c)}) })
	r.secondWaits()
	r.cut()
	if o := <-settle; o.err == nil || store.IsData(o.err) || !store.IsRetryable(o.err) {
		t.Errorf("cut off: %v", o.err)
	}
	r.commit(tx)
	token := store.Token{ID: c.ID, Attempt: 1}
	if done, err := r.second.Unsettled(r.ctx, r.server, []store.Token{token}); err != nil || len(done) != 1 || done[token] {
		t.Errorf("done %v, %v", done, err)
	}
	if refused, err := r.second.Settle(r.ctx, r.server, []store.Settled{succeeded(c)}); err != nil || len(refused) != 0 {
		t.Error(refused, err)
	}
	r.check()
}

// The answers for a token that was settled, one that was taken away, one whose
// refused result was kept, and one of another server.
func TestUnsettledTellsWhatBecameOfATokens(t *testing.T) {
	e := writeSetup(t)
	done, retried, open, taken, late, swept := e.running(), e.running(), e.running(), e.running(), e.running(), e.running()
	e.settle(succeeded(done))
	e.settle(store.Settled{ID: retried.ID, Attempt: 1, State: store.Enqueued, Outcome: store.OutcomeRetried, Retry: 1,
		FailedReason: "An error occurred during attempt 1", Reason: "Retry attempt 1 of 3: x"})
	lost := e.register("lost")
	e.claimAs(lost, 10) // attempt 2 of retried, elsewhere
	e.exec(`update tekrar.running set server = $1 where job_id = $2`, lost, swept.ID)
	e.exec(`update tekrar.history set server = $1 where job_id = $2 and state = 3`, lost, swept.ID)
	e.expire(lost)
	e.reclaim(3)
	if _, err := e.db.Delete(e.ctx, "ann", []store.Target{{ID: taken.ID, Expected: store.Processing}, {ID: late.ID, Expected: store.Processing}}); err != nil {
		t.Fatal(err)
	}
	e.settle(succeeded(late))
	for _, c := range []struct {
		what   string
		server int64
		token  store.Token
		want   bool
	}{
		{"settled", e.server, store.Token{ID: done.ID, Attempt: 1}, true},
		{"settled, and lost by another since", e.server, store.Token{ID: retried.ID, Attempt: 1}, true},
		{"lost", lost, store.Token{ID: retried.ID, Attempt: 2}, false},
		{"open", e.server, store.Token{ID: open.ID, Attempt: 1}, false},
		{"deleted", e.server, store.Token{ID: taken.ID, Attempt: 1}, false},
		{"deleted, kept as late", e.server, store.Token{ID: late.ID, Attempt: 1}, true},
		{"reclaimed", lost, store.Token{ID: swept.ID, Attempt: 1}, false},
		{"of another server", e.server + 99, store.Token{ID: done.ID, Attempt: 1}, false},
	} {
		if got, err := e.db.Unsettled(e.ctx, c.server, []store.Token{c.token}); err != nil || len(got) != 1 || got[c.token] != c.want {
			t.Errorf("%s: %v, %v; want %v", c.what, got, err, c.want)
		}
	}
}

// A connection that died unused fails nobody: the statement goes over a new one.
func TestAConnectionThatDiedUnusedIsReplaced_DBX16(t *testing.T) {
	r := newRace(t, "")
	second := newEngineOf(r, r.second)
	second.settle(succeeded(second.running()))
	store.AgeSessions(r.second)
	if n := r.count(`select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and application_name = 'second'`); n < 3 {
		t.Fatalf("%d connections ended", n)
	}
	until(t, "they are gone", func() bool {
		return r.count(`select count(*) from pg_stat_activity where datname = current_database() and application_name = 'second'`) == 0
	})
	second.settle(succeeded(second.running()))
	if err := r.second.Renew(r.ctx, r.server, time.Hour, true, false); err != nil {
		t.Error(err)
	}
	r.check()
}

// LIF-09: closing gives all connections back, the pinned ones too, and what is
// called afterwards fails at once.
func TestCloseEndsPinnedConnections_LIF09(t *testing.T) {
	r := newRace(t, "")
	second := newEngineOf(r, r.second)
	c := second.running()
	tx := r.hold()
	if _, err := tx.Exec(`select 1 from tekrar.running for update`); err != nil {
		t.Fatal(err)
	}
	settle := apart(func() ([]store.Token, error) { return r.second.Settle(r.ctx, r.server, []store.Settled{succeeded(c)}) })
	r.secondWaits()
	if err := r.second.Close(); err != nil {
		t.Fatal(err)
	}
	r.commit(tx)
	if refused := must(r, settle); len(refused) != 0 {
		t.Error("what was under way when it closed is finished:", refused)
	}
	until(t, "no connection of second is left", func() bool {
		return r.count(`select count(*) from pg_stat_activity where datname = current_database() and application_name = 'second'`) == 0
	})
	if _, err := r.second.Claim(r.ctx, r.server, lanes("default"), []string{"k"}, 1); err == nil {
		t.Error("claimed after the end")
	}
}

// newEngineOf acts as the race's server through another db.
func newEngineOf(r *race, db *store.DB) *engine {
	return &engine{T: r.T, ctx: r.ctx, db: db, server: r.server}
}
