package jobs_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Retention removes what is finished and old, and nothing else: failed jobs stay.
func TestRetention(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	r := startOn(t, db, quickly(), on(func(_ context.Context, j *jobs.Job[task]) error {
		if j.Args.N == 1 {
			return errPaper
		}
		return nil
	}, jobs.Retry(jobs.NoRetry())))
	defer r.stop()
	succeeded, failed, deleted, waiting := r.put(task{}), r.put(task{N: 1}), r.put(task{}, jobs.In(time.Hour)), r.put(task{}, jobs.In(time.Hour))
	r.waitFor(succeeded, store.Succeeded)
	r.waitFor(failed, store.Failed)
	if _, err := r.Delete(t.Context(), "ada", jobs.Target{ID: deleted, Expected: store.Scheduled}); err != nil {
		t.Fatal(err)
	}
	again := r.put(task{})
	r.waitFor(again, store.Succeeded)
	left := func(keep jobs.Retention) (ids []int64) {
		t.Helper()
		cfg := quickly()
		cfg.Retention = keep
		if err := jobs.Tidy(t.Context(), newClient(t, db, cfg)); err != nil {
			t.Fatal(err)
		}
		if err := db.Select(&ids, `select id from tekrar.jobs order by id`); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	same(t, []int64{succeeded, failed, deleted, waiting, again}, left(jobs.Retention{}))
	same(t, []int64{failed, deleted, waiting}, left(jobs.Retention{Succeeded: 1, Deleted: -1}))
	same(t, []int64{failed, waiting}, left(jobs.Retention{Succeeded: -1, Deleted: 1}))
	same(t, 2, ask[int](t, db, `select count(distinct job_id) from tekrar.history`))
}

// A server publishes what it knows of its kinds, for dashboards elsewhere.
func TestKindsArePublished(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, nothing, jobs.OnQueue("mail"), jobs.Timeout(90*time.Second),
			jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{2 * time.Second, 5 * time.Second}}))
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return nil })
	})
	r.waitFor(r.put(task{}), store.Succeeded)
	kinds, err := r.db.Kinds(t.Context())
	if err != nil || len(kinds) != 2 {
		t.Fatal(kinds, err)
	}
	g, k := kinds[0], kinds[1]
	same(t, []any{"greet", jobs.DefaultQueue, 10, true}, []any{g.Kind, g.Queue, g.MaxRetries, g.Handled})
	same(t, []any{"task", "mail", 3, true}, []any{k.Kind, k.Queue, k.MaxRetries, k.Handled})
	if k.TimeoutMS == nil || *k.TimeoutMS != 90_000 || g.TimeoutMS != nil {
		t.Errorf("timeouts %v and %v", k.TimeoutMS, g.TimeoutMS)
	}
	published, err := jobs.ParsePolicy(json.RawMessage(k.Policy))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := published.RetryPolicy()
	if err != nil || policy.MaxRetries != 3 || len(policy.Delays) != 2 {
		t.Errorf("policy %+v, %v", policy, err)
	}
}
