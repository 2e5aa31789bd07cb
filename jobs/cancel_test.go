package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// askedIn reads the request that the newest history row keeps.
func askedIn(t *testing.T, d store.JobDetail) (by string, at time.Time) {
	t.Helper()
	var data struct {
		Asked struct {
			At time.Time `json:"at"`
			By string    `json:"by"`
		} `json:"cancel_requested"`
	}
	if err := json.Unmarshal(d.History[0].Data, &data); err != nil {
		t.Fatal(err)
	}
	return data.Asked.By, data.Asked.At
}

// EXE-09, EXE-14: a running job is cancelled, with LISTEN and without: its context
// ends within two seconds and says why. An error ends it as deleted, whatever the
// policy and the error say; nil is a success. The last row keeps the request.
func TestEXE09EXE14Cancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pollOnly, elsewise bool
		returns            error
		end                store.State
		told               string
	}{
		"listening, error":                     {returns: errors.New("stopped"), end: store.Deleted, told: "deleted: Cancelled by ada"},
		"listening, cancelled elsewhere, nil":  {elsewise: true, end: store.Succeeded, told: "succeeded"},
		"polling, cancelled elsewhere, ctx":    {pollOnly: true, elsewise: true, returns: context.Canceled, end: store.Deleted, told: "deleted: Cancelled by ada"},
		"polling, nil":                         {pollOnly: true, end: store.Succeeded, told: "succeeded"},
		"listening, permanent error":           {returns: jobs.Permanent(errors.New("no")), end: store.Deleted, told: "deleted: Cancelled by ada"},
		"polling, snooze, cancelled elsewhere": {pollOnly: true, elsewise: true, returns: jobs.Snooze(time.Minute), end: store.Deleted, told: "deleted: Cancelled by ada"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdicts := make(chan jobs.Verdict, 9)
			cfg := quickly()
			cfg.PollOnly, cfg.Workers = c.pollOnly, 1
			cfg.Hooks.Ended = func(_ jobs.AttemptInfo, v jobs.Verdict) { verdicts <- v }
			began, ended, cause, handler := untilStopped(c.returns)
			r := start(t, cfg, on(handler))
			id := r.put(task{})
			<-began
			person := r.Client
			if c.elsewise {
				person = newClient(t, r.db, quickly())
			}
			asked := time.Now()
			moved, err := person.Cancel(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing})
			if err != nil || moved[0].Err != nil || moved[0].Now != store.Processing {
				t.Fatal(moved, err)
			}
			if took := (<-ended).Sub(asked); took > 2*time.Second {
				t.Errorf("the context ended after %v", took)
			}
			same(t, jobs.ErrCancelled.Error(), (<-cause).Error())
			d := r.waitFor(id, c.end)
			same(t, []string{"enqueued", "processing", c.told}, told(d))
			if by, at := askedIn(t, d); by != "ada" || at.After(d.History[0].At) || at.Before(d.History[1].At) {
				t.Errorf("the last row keeps a request of %q at %v", by, at)
			}
			same(t, c.end, (<-verdicts).State)
			outcome := map[store.State]store.Outcome{store.Deleted: store.OutcomeCancelled, store.Succeeded: store.OutcomeSucceeded}[c.end]
			same(t, 1, ask[int](t, r.db, `select sum(n) from tekrar.stats where outcome = $1`, outcome))
			if len(began) > 0 {
				t.Error("it ran again")
			}
			again, err := person.Cancel(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing})
			if err != nil || !errors.Is(again[0].Err, store.ErrStateChanged) || again[0].Now != c.end {
				t.Errorf("cancel of a job that has ended: %+v, %v", again, err)
			}
		})
	}
}

// EXE-14: the request to a handler that goes on is acknowledged by its server, with
// LISTEN and without, and its success is one.
func TestEXE14CancelAcknowledgedAndIgnored(t *testing.T) {
	t.Parallel()
	for name, pollOnly := range map[string]bool{"listening": false, "polling": true} {
		t.Run(name, func(t *testing.T) { t.Parallel(); cancelIgnored(t, pollOnly) })
	}
}

func cancelIgnored(t *testing.T, pollOnly bool) {
	began, finish := make(chan struct{}), make(chan struct{})
	cfg := quickly()
	cfg.PollOnly = pollOnly
	r := start(t, cfg, on(func(context.Context, *jobs.Job[task]) error {
		close(began)
		<-finish
		return nil
	}))
	id := r.put(task{})
	<-began
	if _, err := r.Cancel(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing}); err != nil {
		t.Fatal(err)
	}
	d := r.detail(id)
	if d.State != store.Processing || d.Cancel == nil || d.Cancel.By != "ada" || d.CancelIgnored {
		t.Errorf("after the request: %v, %+v, ignored %v", d.State, d.Cancel, d.CancelIgnored)
	}
	eventually(t, "its server acknowledges", func() bool { d = r.detail(id); return d.Cancel.AcknowledgedAt != nil })
	if heard := d.Cancel.AcknowledgedAt; heard.Before(d.Cancel.At) || d.State != store.Processing || d.CancelIgnored {
		t.Errorf("acknowledged at %v: %v, %+v, ignored %v", heard, d.State, d.Cancel, d.CancelIgnored)
	}
	close(finish)
	d = r.waitFor(id, store.Succeeded)
	if by, _ := askedIn(t, d); by != "ada" || d.Cancel != nil {
		t.Errorf("after the end: by %q, still asked %+v", by, d.Cancel)
	}
}

// EXE-14: a request that this process has not seen when the handler fails counts too:
// the settle sees it.
func TestEXE14CancelUnseenByTheEngine(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.PollOnly = true
	person := make(chan *jobs.Client, 1)
	r := start(t, cfg, on(func(ctx context.Context, j *jobs.Job[task]) error {
		moved, err := (<-person).Cancel(ctx, "ada", jobs.Target{ID: j.ID, Expected: store.Processing})
		if err != nil || moved[0].Err != nil {
			return jobs.Permanent(errors.New("the request failed"))
		}
		return errors.New("boom")
	}))
	person <- newClient(t, r.db, quickly())
	d := r.waitFor(r.put(task{}), store.Deleted)
	same(t, []string{"enqueued", "processing", "deleted: Cancelled by ada"}, told(d))
	var data struct{ Error string }
	if err := json.Unmarshal(d.History[0].Data, &data); err != nil || data.Error != "boom" {
		t.Errorf("its error is lost: %+v, %v", data, err)
	}
}

// LIF-06: a job can be cancelled while its server drains, and ends the drain early.
func TestLIF06CancelDuringDrain(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.DrainTimeout = time.Hour
	began := make(chan struct{})
	r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}))
	id := r.put(task{})
	<-began
	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	eventually(t, "the server says that it drains", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.servers where draining_at is not null`) == 1
	})
	person := newClient(t, db, quickly())
	if _, err := person.Cancel(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Fatal("the drain did not end after the cancel")
	}
	same(t, []string{"enqueued", "processing", "deleted: Cancelled by ada"}, told(r.detail(id)))
	check(t, db)
}
