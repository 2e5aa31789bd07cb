package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// A copy runs beside its original, at once, with what the original was given itself;
// what it cannot be is refused, and nothing is stored then.
func TestEnqueueCopy(t *testing.T) {
	t.Parallel()
	cfg := quickly()
	cfg.Poll = time.Hour
	ran := make(chan *jobs.Job[task], 10)
	r := start(t, cfg, on(func(_ context.Context, j *jobs.Job[task]) error { ran <- j; return nil }))
	r.listens()
	of, err := r.Enqueue(t.Context(), task{N: 7}, jobs.Unique("one", jobs.For(time.Hour)), jobs.Tags("t"))
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(of.ID, store.Succeeded)
	<-ran
	target := jobs.Target{ID: of.ID, Expected: store.Succeeded}
	copied, err := r.EnqueueCopy(t.Context(), nil, "ada", jobs.Copy{Of: target, Args: []byte(`{"n":8}`)})
	if err != nil || copied.Duplicate || copied.State != store.Enqueued {
		t.Fatalf("%+v, %v", copied, err)
	}
	r.waitFor(copied.ID, store.Succeeded)
	if j := <-ran; j.ID != copied.ID || j.Args.N != 8 || j.Attempt != 1 {
		t.Errorf("ran %+v", j)
	}
	same(t, "ada: Copied from job "+fmt.Sprint(of.ID), ask[string](t, r.db, `select actor || ': ' || reason from tekrar.history where job_id = $1 order by id limit 1`, copied.ID))
	same(t, fmt.Sprint(of.ID), ask[string](t, r.db, `select detail ->> 'copied_from' from tekrar.audit where job_id = $1 and actor = 'ada'`, copied.ID))

	family, err := r.db.Family(t.Context(), copied.ID, 1)
	if err != nil || family.CopyOf == nil || family.CopyOf.ID != of.ID || family.CopyOf.State != store.Succeeded || family.Parent != nil {
		t.Errorf("%+v, %v", family, err)
	}
	if family, err = r.db.Family(t.Context(), of.ID, 1); err != nil || family.CopyOf != nil {
		t.Errorf("the original: %+v, %v", family, err)
	}

	before := ask[int](t, r.db, `select count(*) from tekrar.jobs`)
	var input *jobs.InputError
	for what, c := range map[string]struct {
		actor string
		copy  jobs.Copy
		is    func(error) bool
	}{
		"gone":  {"ada", jobs.Copy{Of: jobs.Target{ID: 99999, Expected: store.Succeeded}}, func(err error) bool { return errors.Is(err, store.ErrNotFound) }},
		"moved": {"ada", jobs.Copy{Of: jobs.Target{ID: of.ID, Expected: store.Failed}}, func(err error) bool { return errors.Is(err, store.ErrStateChanged) }},
		"args":  {"ada", jobs.Copy{Of: target, Args: []byte(`[]`)}, func(err error) bool { return errors.As(err, &input) }},
		"queue": {"ada", jobs.Copy{Of: target, Queue: "a\tb"}, func(err error) bool { return errors.As(err, &input) }},
		"actor": {" ", jobs.Copy{Of: target}, func(err error) bool { return errors.As(err, &input) }},
	} {
		if _, err := r.EnqueueCopy(t.Context(), nil, c.actor, c.copy); !c.is(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tx, err := r.db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.EnqueueCopy(t.Context(), tx, "ada", jobs.Copy{Of: target}); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	same(t, before, ask[int](t, r.db, `select count(*) from tekrar.jobs`))
	same(t, 1, ask[int](t, r.db, `select count(*) from tekrar.audit where action = 'enqueue copy'`))
}
