package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

func (e *engine) cancel(c store.Claimed) store.Moved {
	e.Helper()
	moved, err := e.db.Cancel(e.ctx, "ann", []store.Target{{ID: c.ID, Expected: store.Processing}})
	if err != nil {
		e.Fatal(err)
	}
	return moved[0]
}

// outcomesOf are ways in which an attempt can end, with a token's place left open.
func outcomesOf(c store.Claimed) map[string]store.Settled {
	const failed, boom = "An error occurred during attempt 1", `{"error":"boom","error_type":"E","rule":"retry 1 of 3"}`
	all := map[string]store.Settled{
		"succeeded": {State: store.Succeeded, Outcome: store.OutcomeSucceeded, Data: `{"result":1}`},
		"retried": {State: store.Scheduled, Outcome: store.OutcomeRetried, Cause: store.CauseRetry, Delay: time.Hour, Retry: 1,
			FailedReason: failed, FailedData: boom, Reason: "Retry attempt 1 of 3: boom"},
		"retried at once": {State: store.Enqueued, Outcome: store.OutcomeRetried, Retry: 1, FailedReason: failed, FailedData: boom, Reason: "Retry attempt 1 of 3: boom"},
		"exhausted":       {State: store.Failed, Outcome: store.OutcomeExhausted, Reason: failed, Data: boom, ErrorType: "E", ErrorLine: "boom"},
		"exceeded":        {State: store.Deleted, Outcome: store.OutcomeExceeded, FailedReason: failed, FailedData: boom, Reason: "Exceeded the maximum number of retries"},
		"snoozed":         {State: store.Scheduled, Outcome: store.OutcomeSnoozed, Cause: store.CauseSnooze, Delay: time.Minute, Snoozes: 1, Reason: "Snoozed"},
		"interrupted":     {State: store.Enqueued, Outcome: store.OutcomeInterrupted, Reason: "Interrupted by shutdown"},
	}
	for name, s := range all {
		s.ID, s.Attempt, s.Worker = c.ID, c.Attempt, 4
		all[name] = s
	}
	return all
}

// EXE-14: after a cancel request only a success is one: every other outcome deletes
// the job, is counted as cancelled, and keeps its error and the request.
func TestSettleHeedsACancelRequest_EXE14(t *testing.T) {
	e := writeSetup(t)
	for name := range outcomesOf(store.Claimed{}) {
		c := e.running()
		if m := e.cancel(c); m.Err != nil || m.Now != store.Processing || m.Attempt != 1 {
			t.Fatalf("%+v", m)
		}
		if refused := e.settle(outcomesOf(c)[name]); len(refused) != 0 {
			t.Errorf("%s: refused %v", name, refused)
		}
		last, audited := `deleted 1 on %[1]d "Cancelled by ann"`, "audit: ann cancel from 3"
		if name == "succeeded" {
			last = "succeeded 1 on %[1]d"
		}
		e.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\n"+last+"\n"+audited, e.server))
		if e.count(`select count(*) from tekrar.history h join tekrar.audit a using (job_id) where job_id = $1 and h.state in (4, 6)
			and h.data->'cancel_requested'->>'by' = 'ann' and (h.data->'cancel_requested'->>'at')::timestamptz between a.at - interval '1 s' and h.at`, c.ID) != 1 {
			t.Errorf("%s: the request is not in its last row", name)
		}
		wantsError := name != "succeeded" && name != "snoozed" && name != "interrupted"
		if kept := e.count(`select count(*) from tekrar.history where job_id = $1 and data->>'error' = 'boom' and data->>'rule' = 'a cancel was requested'`, c.ID); (kept == 1) != wantsError {
			t.Errorf("%s: %d rows with its error", name, kept)
		}
	}
	if n := e.count(`select sum(n) from tekrar.stats where outcome = 9`); n != 6 {
		t.Errorf("%d counted as cancelled, want 6", n)
	}
	e.check()
}

// A request is for a processing job only, is made once, and ends with its attempt.
func TestCancelIsForProcessingJobs_EXE14(t *testing.T) {
	e := writeSetup(t)
	waiting := e.enqueue(store.NewJob{Queue: "unclaimed"})[0]
	for _, seen := range []store.State{store.Processing, store.Enqueued} {
		moved, err := e.db.Cancel(e.ctx, "ann", []store.Target{{ID: waiting, Expected: seen}, {ID: waiting + 999, Expected: store.Processing}})
		if err != nil || !errors.Is(moved[0].Err, store.ErrStateChanged) || moved[0].Now != store.Enqueued || !errors.Is(moved[1].Err, store.ErrNotFound) {
			t.Fatal(moved, err)
		}
	}
	c := e.running()
	e.cancel(c)
	again, err := e.db.Cancel(e.ctx, "bob", []store.Target{{ID: c.ID, Expected: store.Processing}})
	if err != nil || again[0].Err != nil {
		t.Fatal(again, err)
	}
	if n := e.count(`select count(*) from tekrar.running where cancel_requested_by = 'ann' and cancel_requested_at is not null`); n != 1 || e.count(`select count(*) from tekrar.audit where action = 'cancel'`) != 1 {
		t.Error("the second request replaced the first, or was noted")
	}
	taken, asked, err := e.db.Taken(e.ctx, e.server, []store.Token{{ID: c.ID, Attempt: 1}, {ID: c.ID, Attempt: 2}, {ID: waiting, Attempt: 1}})
	if err != nil || len(taken) != 2 || len(asked) != 1 || asked[store.Token{ID: c.ID, Attempt: 1}].By != "ann" {
		t.Error(taken, asked, err)
	}
	d, err := e.db.Job(e.ctx, c.ID, 0, 0)
	if err != nil || d.Cancel == nil || d.Cancel.By != "ann" || d.CancelIgnored {
		t.Error(d.Cancel, err)
	}
	e.exec(`update tekrar.running set cancel_requested_at = cancel_requested_at - interval '31 s'`)
	if d, err = e.db.Job(e.ctx, c.ID, 0, 0); err != nil || !d.CancelIgnored {
		t.Error("31 s after the request it is not said to be ignored", err)
	}
	e.settle(outcomesOf(c)["snoozed"])
	if _, err := e.db.Restore(e.ctx, "ann", []store.Target{{ID: c.ID, Expected: store.Deleted}}); err != nil {
		t.Fatal(err)
	}
	if next := e.claim(2); len(next) != 1 || e.count(`select count(*) from tekrar.running where cancel_requested_at is not null`) != 0 {
		t.Errorf("a restored job begins with the old request: %+v", next)
	}
	e.check()
}

// EXE-14: only the server that holds an attempt acknowledges a request to end it, and
// only once; the patience with its handler begins there.
func TestAcknowledgeCancels_EXE14(t *testing.T) {
	e := writeSetup(t)
	e.enqueue(make([]store.NewJob, 3)...)
	jobs, other := e.claim(3), e.register("other")
	asked, stale, unasked := jobs[0], jobs[1], jobs[2]
	e.cancel(asked)
	e.cancel(stale)
	token := func(c store.Claimed) store.Token { return store.Token{ID: c.ID, Attempt: c.Attempt} }
	acknowledge := func(server int64, tokens ...store.Token) []store.Token {
		t.Helper()
		noted, err := e.db.AcknowledgeCancels(e.ctx, server, tokens)
		if err != nil {
			t.Fatal(err)
		}
		return noted
	}
	if noted := acknowledge(other, token(asked)); len(noted) != 0 {
		t.Errorf("a server that does not hold it acknowledged %v", noted)
	}
	all := []store.Token{token(unasked), {ID: stale.ID, Attempt: stale.Attempt + 1}, token(asked)}
	if noted := acknowledge(e.server, all...); len(noted) != 1 || noted[0] != token(asked) {
		t.Errorf("acknowledged %v", noted)
	}
	if noted := acknowledge(e.server, all...); len(noted) != 0 {
		t.Errorf("acknowledged again: %v", noted)
	}
	_, seen, err := e.db.Taken(e.ctx, e.server, []store.Token{token(asked), token(stale)})
	if err != nil || seen[token(asked)].AcknowledgedAt == nil || len(seen) != 2 || seen[token(stale)].AcknowledgedAt != nil {
		t.Errorf("%+v, %v", seen, err)
	}
	for _, aged := range []struct {
		set     string
		ignored bool
	}{
		{"cancel_requested_at = cancel_requested_at - interval '31 s'", false},
		{"cancel_acknowledged_at = cancel_acknowledged_at - interval '31 s'", true},
	} {
		e.exec(`update tekrar.running set ` + aged.set + ` where cancel_acknowledged_at is not null`)
		if d, err := e.db.Job(e.ctx, asked.ID, 0, 0); err != nil || d.Cancel.AcknowledgedAt == nil || d.CancelIgnored != aged.ignored {
			t.Errorf("%s: %+v, ignored %v, %v", aged.set, d.Cancel, d.CancelIgnored, err)
		}
	}
	if refused := e.settle(outcomesOf(asked)["retried"]); len(refused) != 0 {
		t.Error(refused)
	}
	e.wantTold(asked.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\ndeleted 1 on %[1]d \"Cancelled by ann\"\naudit: ann cancel from 3", e.server))
	if noted := acknowledge(e.server, token(asked)); len(noted) != 0 {
		t.Errorf("acknowledged after its end: %v", noted)
	}
	e.check()
}

// EXE-14: the server of a cancelled job is lost: the job is not run again.
func TestReclaimHeedsACancelRequest_EXE14(t *testing.T) {
	e := writeSetup(t)
	e.enqueue(make([]store.NewJob, 2)...)
	lost := e.register("lost")
	claimed := e.claimAs(lost, 2)
	e.cancel(claimed[0])
	e.expire(lost)
	if r := e.reclaim(0); len(r.IDs) != 2 {
		t.Fatalf("%+v", r)
	}
	e.wantTold(claimed[0].ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\ndeleted 1 on %[1]d \"Cancelled by ann\"\naudit: ann cancel from 3", lost))
	if e.count(`select count(*) from tekrar.failed where job_id = $1`, claimed[1].ID) != 1 {
		t.Error("the other one, past its loss limit, has not failed")
	}
	if e.count(`select count(*) from tekrar.history where state = 6 and data->'cancel_requested'->>'by' = 'ann'`) != 1 {
		t.Error("the request is not in its last row")
	}
	e.check()
}

// EXE-14, two connections: a settle that meets a request waits for it and heeds it.
func TestSettleAgainstCancelHeedsIt_EXE14(t *testing.T) {
	for _, name := range []string{"retried", "succeeded"} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, "move: done")
			c, other := r.running(), r.running()
			cancel := apart(func() ([]store.Moved, error) {
				return r.first.Cancel(r.ctx, "ann", []store.Target{{ID: c.ID, Expected: store.Processing}})
			})
			<-r.reached
			settle := apart(func() ([]store.Token, error) {
				return r.second.Settle(r.ctx, r.server, []store.Settled{outcomesOf(c)[name], outcomesOf(other)[name]})
			})
			r.secondWaits()
			r.goOn()
			if m := must(r, cancel)[0]; m.Err != nil {
				t.Error(m)
			}
			if refused := must(r, settle); len(refused) != 0 {
				t.Error(refused)
			}
			want := map[string]string{"retried": "deleted 1 on %[1]d \"Cancelled by ann\"", "succeeded": "succeeded 1 on %[1]d"}[name]
			r.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\n"+want+"\naudit: ann cancel from 3", r.server))
			if n := r.count(`select count(*) from tekrar.running`); n != 0 {
				t.Errorf("%d hot rows are left behind", n)
			}
			r.check()
		})
	}
}

// EXE-14, two connections: a request that meets a settle waits for it and finds the
// job elsewhere.
func TestCancelAgainstSettleFindsItElsewhere_EXE14(t *testing.T) {
	r := newRace(t, "")
	c := r.running()
	tx := r.hold()
	if refused, err := store.SettleIn(r.ctx, r.first, tx, r.server, outcomesOf(c)["retried"]); err != nil || len(refused) != 0 {
		t.Fatal(refused, err)
	}
	cancel := apart(func() ([]store.Moved, error) {
		return r.second.Cancel(r.ctx, "ann", []store.Target{{ID: c.ID, Expected: store.Processing}})
	})
	r.secondWaits()
	r.commit(tx)
	r.wantLoser(must(r, cancel)[0], store.Scheduled)
	if n := r.count(`select count(*) from tekrar.audit`); n != 0 {
		t.Errorf("%d audit rows of a request that came too late", n)
	}
	r.check()
}

// EXE-14: so does one whose request is acknowledged while it is being settled.
func TestSettleAgainstAcknowledge_EXE14(t *testing.T) {
	r := newRace(t, "")
	c := r.running()
	r.cancel(c)
	tx := r.hold()
	if refused, err := store.SettleIn(r.ctx, r.first, tx, r.server, outcomesOf(c)["retried"]); err != nil || len(refused) != 0 {
		t.Fatal(refused, err)
	}
	acknowledge := apart(func() ([]store.Token, error) {
		return r.second.AcknowledgeCancels(r.ctx, r.server, []store.Token{{ID: c.ID, Attempt: c.Attempt}})
	})
	r.secondWaits()
	r.commit(tx)
	if noted := must(r, acknowledge); len(noted) != 0 {
		t.Errorf("acknowledged for an attempt that had ended: %v", noted)
	}
	r.wantTold(c.ID, fmt.Sprintf("enqueued 0\nprocessing 1 on %[1]d\ndeleted 1 on %[1]d \"Cancelled by ann\"\naudit: ann cancel from 3", r.server))
	r.check()
}

// EXE-08: an attempt that is marked stuck while it is being settled leaves no hot
// row behind: the settle locks a version that its snapshot does not see.
func TestSettleAgainstStuckMark_EXE08(t *testing.T) {
	r := newRace(t, "")
	c := r.running()
	tx := r.hold()
	if _, err := tx.Exec(`update tekrar.running set stuck_at = clock_timestamp() where job_id = $1`, c.ID); err != nil {
		t.Fatal(err)
	}
	settle := apart(func() ([]store.Token, error) {
		return r.second.Settle(r.ctx, r.server, []store.Settled{outcomesOf(c)["retried"]})
	})
	r.secondWaits()
	r.commit(tx)
	if refused := must(r, settle); len(refused) != 0 {
		t.Error(refused)
	}
	r.wantTold(c.ID, fmt.Sprintf("scheduled 1 r1 l0 s0 cause 2\nenqueued 0\nprocessing 1 on %[1]d\nfailed 1 on %[1]d \"An error occurred during attempt 1\"\n"+
		"scheduled 1 on %[1]d \"Retry attempt 1 of 3: boom\"", r.server))
	r.check()
}
