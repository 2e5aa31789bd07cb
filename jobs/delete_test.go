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

const lateRow = "late: Too late: the job had been taken from this attempt"

// untilStopped is a handler that runs until its context ends.
func untilStopped(returns error) (began chan struct{}, ended chan time.Time, cause chan error, handler func(context.Context, *jobs.Job[task]) error) {
	began, ended, cause = make(chan struct{}, 9), make(chan time.Time, 9), make(chan error, 9)
	return began, ended, cause, func(ctx context.Context, _ *jobs.Job[task]) error {
		began <- struct{}{}
		<-ctx.Done()
		ended <- time.Now()
		cause <- context.Cause(ctx)
		return returns
	}
}

// EXE-09, EXE-12: a running job is deleted. Its context ends within two seconds,
// with LISTEN and without; whatever the handler then returns is kept as late, and
// the job stays deleted.
func TestEXE09EXE12DeleteWhileRunning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pollOnly bool
		elsewise bool // deleted by a client of another process
		returns  error
		would    store.State
	}{
		"listening, returns nil":              {returns: nil, would: store.Succeeded},
		"listening, deleted elsewhere, error": {elsewise: true, returns: errors.New("stopped"), would: store.Scheduled},
		"polling, deleted elsewhere, nil":     {pollOnly: true, elsewise: true, would: store.Succeeded},
		"polling, error":                      {pollOnly: true, returns: context.Canceled, would: store.Scheduled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quickly()
			cfg.PollOnly, cfg.Workers = c.pollOnly, 1
			began, ended, cause, handler := untilStopped(c.returns)
			r := start(t, cfg, on(handler))
			id := r.put(task{})
			<-began
			person := r.Client
			if c.elsewise {
				person = newClient(t, r.db, quickly())
			}
			asked := time.Now()
			moved, err := person.Delete(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing})
			if err != nil || moved[0].Err != nil || moved[0].Now != store.Deleted {
				t.Fatal(moved, err)
			}
			if took := (<-ended).Sub(asked); took > 2*time.Second {
				t.Errorf("the context ended after %v", took)
			}
			same(t, jobs.ErrDeleted.Error(), (<-cause).Error())
			var d store.JobDetail
			eventually(t, "the late result is kept", func() bool {
				d = r.detail(id)
				return d.History[0].State == store.Late
			})
			same(t, []string{"enqueued", "processing", "deleted: Deleted by ada", lateRow}, told(d))
			same(t, store.Deleted, d.State)
			var data struct {
				WouldBe store.State `json:"would_be"`
			}
			if err := json.Unmarshal(d.History[0].Data, &data); err != nil {
				t.Fatal(err)
			}
			same(t, c.would, data.WouldBe)
			if len(began) > 0 {
				t.Error("it ran again")
			}
		})
	}
}

// LIF-06: a job can be deleted while its server drains, and ends the drain early.
func TestLIF06DeleteDuringDrain(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.DrainTimeout = time.Hour
	began := make(chan struct{})
	r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
		close(began)
		<-ctx.Done()
		return context.Cause(ctx)
	}))
	id := r.put(task{})
	<-began
	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	eventually(t, "the server says that it drains", func() bool {
		return ask[int](t, db, `select count(*) from tekrar.servers where draining_at is not null`) == 1
	})
	person := newClient(t, db, quickly())
	if _, err := person.Delete(t.Context(), "ada", jobs.Target{ID: id, Expected: store.Processing}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Fatal("the drain did not end after the delete")
	}
	same(t, []string{"enqueued", "processing", "deleted: Deleted by ada", lateRow}, told(r.detail(id)))
	check(t, db)
}

// EXE-16: a processing job is not requeued, and its history says nothing of it;
// of jobs that somebody else moved the answer tells where they are.
func TestEXE16RequeueOfProcessingIsRefused(t *testing.T) {
	t.Parallel()
	began, finish := make(chan struct{}), make(chan struct{})
	r := start(t, quickly(), on(func(context.Context, *jobs.Job[task]) error {
		close(began)
		<-finish
		return nil
	}))
	id := r.put(task{})
	<-began
	for _, seen := range []store.State{store.Processing, store.Failed, store.Enqueued} {
		moved, err := r.Requeue(t.Context(), "ada", jobs.FreshBudget, jobs.Target{ID: id, Expected: seen})
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(moved[0].Err, store.ErrStateChanged) || moved[0].Now != store.Processing {
			t.Errorf("requeue of a processing job seen as %v: %+v", seen, moved[0])
		}
	}
	moved, err := r.Delete(t.Context(), "ada", jobs.Target{ID: id + 1000, Expected: store.Failed})
	if err != nil || !errors.Is(moved[0].Err, store.ErrNotFound) {
		t.Error(moved, err)
	}
	close(finish)
	same(t, []string{"enqueued", "processing", "succeeded"}, told(r.waitFor(id, store.Succeeded)))
}

func TestActionsRefuseBadInput(t *testing.T) {
	t.Parallel()
	c := newClient(t, storetest.Open(t, storetest.EmptyDSN(t), store.Options{}), quickly())
	one := jobs.Target{ID: 1, Expected: store.Failed}
	for name, act := range map[string]func() error{
		"actor":   func() error { _, err := c.Delete(t.Context(), " ", one); return err },
		"targets": func() error { _, err := c.Restore(t.Context(), "ada"); return err },
		"10000": func() error {
			_, err := c.Requeue(t.Context(), "ada", jobs.KeepRetries, make([]jobs.Target, jobs.MaxTargets+1)...)
			return err
		},
		"queue": func() error { return c.PauseQueue(t.Context(), "ada", "") },
	} {
		refused(t, name, act())
	}
}
