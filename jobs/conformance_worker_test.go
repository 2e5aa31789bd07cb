package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Rows 34 to 56 of Hangfire's suite, as far as the engine decides them; the store's
// tests have the rest. Subtests carry the row's number; CONFORMANCE.md says which
// rows hold and which differ.

// row runs one row of the list on the running engine.
func (r *running) row(name string, test func(r *running)) {
	r.t.Helper()
	r.t.(*testing.T).Run(name, func(t *testing.T) {
		one := *r
		one.t = t
		test(&one)
	})
}

func (r *running) delete(id int64, seen store.State) {
	r.t.Helper()
	moved, err := r.Delete(r.t.Context(), "ada", jobs.Target{ID: id, Expected: seen})
	if err != nil || moved[0].Err != nil {
		r.t.Fatal(moved, err)
	}
}

func TestConformanceHandlers(t *testing.T) {
	t.Parallel()
	var seen diary
	var db *store.DB
	look := func(when string, id int64) {
		rows, err := db.JobRows(context.Background(), []int64{id})
		if err != nil || len(rows) != 1 {
			t.Error(rows, err)
			return
		}
		seen.add(when + " in " + rows[0].State.String())
	}
	cfg := quickly()
	cfg.Hooks = jobs.Hooks{
		Started: func(_ context.Context, a jobs.AttemptInfo) { look("started", a.JobID) },
		Ended:   func(a jobs.AttemptInfo, v jobs.Verdict) { look("ended for "+v.State.String(), a.JobID) },
	}
	db = storetest.New(t)
	r := startOn(t, db, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Args.N == 1 {
			return jobs.Permanent(errPaper)
		}
		return nil
	}))
	t.Cleanup(func() { r.stop(); check(t, db) })
	r.row("34 leaving is told before the change, entering after it", func(r *running) {
		r.waitFor(r.put(task{}), store.Succeeded)
		same(r.t, []string{"started in processing", "ended for succeeded in processing"}, seen.read())
	})
	r.row("35 of several outcomes only the one that came is told", func(r *running) {
		before := len(seen.read())
		r.waitFor(r.put(task{N: 1}), store.Failed)
		same(r.t, []string{"started in processing", "ended for failed in processing"}, seen.read()[before:])
	})
	r.row("43 what people and the scheduler move calls no handler", func(r *running) {
		before := len(seen.read())
		id := r.put(greet{}, jobs.Queue("nobody's"))
		r.delete(id, store.Enqueued)
		moved, err := r.Restore(r.t.Context(), "ada", jobs.Target{ID: id, Expected: store.Deleted})
		if err != nil || moved[0].Err != nil {
			r.t.Fatal(moved, err)
		}
		same(r.t, before, len(seen.read()))
	})
}

func TestConformanceErrors(t *testing.T) {
	t.Parallel()
	began := make(chan context.Context, 1)
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(ctx context.Context, j *jobs.Job[badly]) error {
			switch j.Args.How {
			case "cancelled":
				return context.Canceled
			case "aborted":
				began <- ctx
				<-ctx.Done()
				return ctx.Err()
			case "user":
				return errPaper
			}
			return misbehave(j.Args.How)
		}, jobs.Retry(jobs.NoRetry()))
		jobs.Handle(c, func(context.Context, *jobs.Job[explosive]) error { return nil }, jobs.Retry(jobs.NoRetry()))
	})
	failed := []string{"enqueued", "processing", "failed: An error occurred during attempt 1"}
	r.row("54 a cancelled operation without a shutdown has failed", func(r *running) {
		same(r.t, failed, told(r.waitFor(r.put(badly{"cancelled"}), store.Failed)))
	})
	r.row("55 an aborted attempt writes no state", func(r *running) {
		id := r.put(badly{"aborted"})
		ctx := <-began
		r.delete(id, store.Processing)
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, jobs.ErrDeleted) {
			r.t.Errorf("cause %v", cause)
		}
		eventually(r.t, "its result is kept as late", func() bool { return r.detail(id).History[0].State == store.Late })
		same(r.t, []string{"enqueued", "processing", "deleted: Deleted by ada", lateRow}, told(r.detail(id)))
	})
	r.row("56 the user's error, a panic of the job's code and args that cannot be read: each has failed", func(r *running) {
		raw, err := r.EnqueueRaw(r.t.Context(), "badly", json.RawMessage(`{"how":7}`))
		if err != nil {
			r.t.Fatal(err)
		}
		for name, id := range map[string]int64{
			"user": r.put(badly{"user"}), "panic": r.put(badly{"panic"}), "Goexit": r.put(badly{"Goexit"}), "decode": raw.ID, "decode panics": r.put(explosive{}),
		} {
			if d := r.waitFor(id, store.Failed); len(d.History) != 3 || failures(r.t, d)[0].Error == "" {
				r.t.Errorf("%s: %v", name, told(d))
			}
		}
	})
}

// Row 49: Hangfire gives up on a state that cannot be written and writes failed
// without filters. Here a settle is tried until the database answers; what it
// refuses for its content is written with a text that can be stored.
func TestConformanceUnstorableOutcome(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Args.N == 1 {
			return errPaper
		}
		return nil
	}, jobs.Retry(jobs.NoRetry())))
	r.row("49 an outcome that cannot be stored is written without its text", func(r *running) {
		shift(r.t, r.db, `create function tekrar.refuse() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = 'data_exception'; end $$`)
		shift(r.t, r.db, `create trigger refused before insert on tekrar.history for each row when (new.data->>'error' = 'out of paper') execute function tekrar.refuse()`)
		bad, good := r.put(task{N: 1}), r.put(task{})
		r.waitFor(good, store.Succeeded)
		d := r.waitFor(bad, store.Failed)
		same(r.t, []string{"enqueued", "processing", "failed: The text of this outcome could not be stored"}, told(d))
		same(r.t, "The text of this outcome could not be stored", d.ErrorLine)
	})
}

// Rows 53 and 58: a stop cancels what runs, and that is no failure.
func TestConformanceShutdown(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	cfg := quickly()
	cfg.DrainTimeout = -1
	began := make(chan context.Context, 1)
	r := startOn(t, db, cfg, on(func(ctx context.Context, _ *jobs.Job[task]) error {
		began <- ctx
		<-ctx.Done()
		return ctx.Err()
	}, jobs.Retry(jobs.NoRetry())))
	r.row("53 cancelled by the shutdown: enqueued again, not failed", func(r *running) {
		id := r.put(task{})
		ctx := <-began
		if ctx.Err() != nil {
			r.t.Errorf("the context has ended before the stop: %v", context.Cause(ctx))
		}
		r.stop()
		if cause := context.Cause(ctx); !errors.Is(cause, jobs.ErrShutdown) {
			r.t.Errorf("cause %v", cause)
		}
		same(r.t, []string{"enqueued", "processing", "enqueued: Interrupted by shutdown"}, told(r.detail(id)))
		same(r.t, 0, r.detail(id).Retry)
	})
	check(t, db)
}

// Rows 81 to 83: a person runs a recurring job by hand.
func TestConformanceRunNow(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	save(t, c, jobs.RecurringSpec{ID: "minutely", Spec: "* * * * *", Kind: "task"})
	made := func() int { return ask[int](t, db, `select count(*) from tekrar.jobs`) }
	t.Run("81 run while a fire is overdue: that one stays due, and the next minute follows it", func(t *testing.T) {
		shift(t, db, `update tekrar.recurring set next_run = date_trunc('minute', clock_timestamp()) - interval '1 hour'`)
		overdue := recurring(t, db, "minutely").NextRun
		if _, err := c.RunRecurringNow(t.Context(), "ada", "minutely"); err != nil {
			t.Fatal(err)
		}
		if next := recurring(t, db, "minutely").NextRun; made() != 1 || !next.Equal(*overdue) {
			t.Errorf("%d jobs, next fire %v, want 1 and %v", made(), next, overdue)
		}
	})
	t.Run("82 unknown id: no job, and it is said", func(t *testing.T) {
		if _, err := c.RunRecurringNow(t.Context(), "ada", "nobody's"); !errors.Is(err, store.ErrNotFound) || made() != 1 {
			t.Errorf("%v, %d jobs", err, made())
		}
	})
	t.Run("83 zone that is none: an error that names it, and no job", func(t *testing.T) {
		shift(t, db, `update tekrar.recurring set zone = 'Mars/Phobos'`)
		var refused *jobs.InputError
		if _, err := c.RunRecurringNow(t.Context(), "ada", "minutely"); !errors.As(err, &refused) || refused.Field != "zone" || made() != 1 {
			t.Errorf("%v, %d jobs", err, made())
		}
	})
	check(t, db)
}
