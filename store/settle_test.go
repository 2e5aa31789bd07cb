package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Every outcome of an attempt: hot row, history, statistics.
func TestSettleWritesEachOutcome_EXE12(t *testing.T) {
	e := writeSetup(t)
	const failed, boom = "An error occurred during attempt 1", `{"error":"boom","error_type":"E"}`
	for name, c := range map[string]struct {
		to   store.Settled
		hot  string
		rest []string // history after the claim
	}{
		"succeeded": {store.Settled{State: store.Succeeded, Outcome: store.OutcomeSucceeded, Data: `{"result":1}`}, "", []string{`succeeded 1 on %d`}},
		"retried": {store.Settled{State: store.Scheduled, Outcome: store.OutcomeRetried, Cause: store.CauseRetry, Delay: time.Hour, Retry: 1,
			FailedReason: failed, FailedData: boom, Reason: "Retry attempt 1 of 3: boom"},
			"scheduled 1 r1 l0 s0 cause 2\n", []string{`failed 1 on %d "` + failed + `"`, `scheduled 1 on %d "Retry attempt 1 of 3: boom"`}},
		"retried at once": {store.Settled{State: store.Enqueued, Outcome: store.OutcomeRetried, Retry: 1,
			FailedReason: failed, FailedData: boom, Reason: "Retry attempt 1 of 3: boom"},
			"ready 1 r1 l0 s0\n", []string{`failed 1 on %d "` + failed + `"`, `enqueued 1 on %d "Retry attempt 1 of 3: boom"`}},
		"exhausted": {store.Settled{State: store.Failed, Outcome: store.OutcomeExhausted, Retry: 3, Reason: failed, Data: boom, ErrorType: "E", ErrorLine: "boom", Fingerprint: 77},
			"failed 1 r3 l0 s0 E: boom\n", []string{`failed 1 on %d "` + failed + `"`}},
		"permanent": {store.Settled{State: store.Failed, Outcome: store.OutcomePermanent, Reason: failed, Data: boom, ErrorType: "E", ErrorLine: "boom", Fingerprint: 77},
			"failed 1 r0 l0 s0 E: boom\n", []string{`failed 1 on %d "` + failed + `"`}},
		"exceeded": {store.Settled{State: store.Deleted, Outcome: store.OutcomeExceeded, FailedReason: failed, FailedData: boom, Reason: "Exceeded the maximum number of retries"},
			"", []string{`failed 1 on %d "` + failed + `"`, `deleted 1 on %d "Exceeded the maximum number of retries"`}},
		"snoozed": {store.Settled{State: store.Scheduled, Outcome: store.OutcomeSnoozed, Cause: store.CauseSnooze, Delay: time.Minute, Snoozes: 1, Reason: "Snoozed"},
			"scheduled 1 r0 l0 s1 cause 3\n", []string{`scheduled 1 on %d "Snoozed"`}},
		"interrupted": {store.Settled{State: store.Enqueued, Outcome: store.OutcomeInterrupted, Reason: "Interrupted by shutdown"},
			"ready 1 r0 l0 s0\n", []string{`enqueued 1 on %d "Interrupted by shutdown"`}},
		"cancelled": {store.Settled{State: store.Deleted, Outcome: store.OutcomeCancelled, Reason: "Cancelled by its handler"},
			"", []string{`deleted 1 on %d "Cancelled by its handler"`}},
	} {
		e.exec(`delete from tekrar.ready`) // of the cases before
		e.exec(`delete from tekrar.jobs`)
		e.exec(`delete from tekrar.history`)
		e.exec(`delete from tekrar.stats`)
		e.exec(`delete from tekrar.scheduled`)
		e.exec(`delete from tekrar.failed`)
		c.to.ID, c.to.Attempt = e.running().ID, 1
		c.to.Worker, c.to.Latency, c.to.Duration = 4, 5*time.Millisecond, 60*time.Millisecond
		if refused := e.settle(c.to); len(refused) != 0 {
			t.Errorf("%s: refused %v", name, refused)
		}
		want := c.hot + "enqueued 0\n" + fmt.Sprintf("processing 1 on %d\n", e.server)
		for _, line := range c.rest {
			want += fmt.Sprintf(line, e.server) + "\n"
		}
		e.wantTold(c.to.ID, want)
		if n := e.count(`select count(*) from tekrar.stats where server = $1 and n = 1 and run_us = 60000 and wait_us = 5000
			and outcome = $2 and attempt = 1 and bucket = $3 and queue = 'default' and kind = 'k'`, e.server, c.to.Outcome, store.Bucket(c.to.Duration)); n != 1 || e.count(`select count(*) from tekrar.stats`) != 1 {
			t.Errorf("%s: statistics do not have it once", name)
		}
		if n := e.count(`select count(distinct at) from tekrar.history where worker = 4`); n != 1 {
			t.Errorf("%s: its rows are of %d instants", name, n)
		}
		if e.count(`select count(*) from tekrar.history where duration_us = 60000 and latency_us = 5000 and worker = 4`) != 1 {
			t.Errorf("%s: one row has the duration, the first", name)
		}
		if c.to.FailedData != "" && e.count(`select count(*) from tekrar.history where state = 5 and data = $1::jsonb`, boom) != 1 {
			t.Errorf("%s: the failed row lacks its data", name)
		}
		e.check()
	}
}

// A retry waits exactly its delay from the settle, to the microsecond, and says so.
func TestSettleSchedulesByTheDatabaseClock(t *testing.T) {
	e := writeSetup(t)
	c := e.running()
	e.settle(store.Settled{ID: c.ID, Attempt: 1, State: store.Scheduled, Outcome: store.OutcomeSnoozed, Cause: store.CauseSnooze, Snoozes: 1,
		Delay: 2*time.Second + 345678*time.Microsecond, Reason: "Snoozed", Data: `{"note":"x"}`})
	if e.count(`select count(*) from tekrar.scheduled s join tekrar.history h using (job_id)
		where h.state = 1 and s.run_at = h.at + interval '2.345678 s' and (h.data->>'run_at')::timestamptz = s.run_at and h.data->>'note' = 'x'`) != 1 {
		t.Error(e.tell(c.ID))
	}
}

// A batch is one statement: the good rows of a batch with a late one are written.
func TestSettleOfAMixedBatch(t *testing.T) {
	e := writeSetup(t)
	ids := e.enqueue(make([]store.NewJob, 50)...)
	claimed := e.claim(100)
	if len(claimed) != 50 {
		t.Fatal(len(claimed))
	}
	moved, err := e.db.Delete(e.ctx, "ann", []store.Target{{ID: ids[20], Expected: store.Processing}})
	if err != nil || moved[0].Err != nil {
		t.Fatal(moved, err)
	}
	var batch []store.Settled
	for _, c := range claimed {
		batch = append(batch, succeeded(c))
	}
	if refused := e.settle(batch...); len(refused) != 1 || refused[0] != (store.Token{ID: ids[20], Attempt: 1}) {
		t.Errorf("refused %v", refused)
	}
	if n := e.count(`select sum(n) from tekrar.stats where outcome = 1 and attempt = 1`); n != 49 {
		t.Errorf("%d counted", n)
	}
	e.check()
}
