package web_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// The jobs of the load. No name has a digit, so that every digit on a page is one of a
// number, a time or a text that a handler wrote.
type (
	easy   struct{ N int }
	shaky  struct{ N int }
	broken struct{ N int }
	slow   struct{ N int }
	mailed struct{ N int }
	later  struct{ N int }
)

func (easy) Kind() string   { return "easy" }
func (shaky) Kind() string  { return "shaky" }
func (broken) Kind() string { return "broken" }
func (slow) Kind() string   { return "slow" }
func (mailed) Kind() string { return "mailed" }
func (later) Kind() string  { return "later" }

// busy registers what the load does; it returns the program of the load itself, which
// runs until its context ends and says what went wrong.
func (x *site) busy() func(context.Context) error {
	claims := x.claims()
	soon := jobs.RetryPolicy{MaxRetries: 3, Backoff: jobs.Fixed(30 * time.Millisecond)}
	jobs.Handle(x.client, func(context.Context, *jobs.Job[easy]) error { return nil })
	jobs.Handle(x.client, func(_ context.Context, j *jobs.Job[shaky]) error {
		if j.Attempt <= j.Args.N%6 {
			return fmt.Errorf("stock %d is locked", j.Args.N)
		}
		return nil
	}, jobs.Retry(soon))
	jobs.Handle(x.client, func(_ context.Context, j *jobs.Job[broken]) error {
		return jobs.Permanent(fmt.Errorf("order %d: %s", j.Args.N, []string{"no address", "no such book", "paid already"}[j.Args.N%3]))
	}, jobs.OnQueue("orders"))
	jobs.Handle(x.client, func(ctx context.Context, j *jobs.Job[slow]) error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(50+j.Args.N%7*40) * time.Millisecond):
		}
		return nil
	}, jobs.OnQueue("reports"), jobs.Timeout(90*time.Second))
	jobs.Handle(x.client, func(context.Context, *jobs.Job[later]) error { return nil })
	jobs.Handle(x.client, func(ctx context.Context, j *jobs.Job[mailed]) error {
		_, err := claims.Do(ctx, idempotency.NewKey("mail", j.Args.N), func(ctx context.Context, c *idempotency.Claim) (any, error) {
			switch j.Args.N % 4 {
			case 0:
				return nil, errors.New("no answer of the post office")
			case 1:
				return nil, errors.Join(errors.New("refused"), c.Release(ctx, "refused"))
			}
			return map[string]int{"message": j.Args.N}, nil
		}, idempotency.KeyLife(24*time.Hour, time.Minute))
		return err
	}, jobs.OnQueue("mail"), jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Backoff: jobs.Fixed(40 * time.Millisecond)}))
	return x.load
}

func (x *site) load(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		items := []jobs.Item{
			{Args: easy{n}}, {Args: easy{-n}}, {Args: shaky{n}}, {Args: shaky{n + 1}}, {Args: broken{n}}, {Args: slow{n}}, {Args: mailed{n}},
			{Args: later{n}, Options: []jobs.EnqueueOption{jobs.In(time.Hour)}},
		}
		all, err := x.client.EnqueueMany(ctx, items)
		if err == nil && n%3 == 0 {
			_, err = x.client.Enqueue(ctx, easy{n}, jobs.After(all[5].ID, jobs.OnSuccess), jobs.Priority(2))
		}
		if err == nil {
			err = x.person(ctx, n)
		}
		if err == nil {
			err = x.called(ctx, n, all[6].ID)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrStateChanged) && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("load, round %d: %w", n, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(15 * time.Millisecond):
		}
	}
	return nil
}

// person does what people do on the pages, one thing a round.
func (x *site) person(ctx context.Context, n int) (err error) {
	some := func(table string, s store.State, limit int, act func([]jobs.Target) ([]jobs.Moved, error)) error {
		var ids []int64
		err := x.db.SelectContext(ctx, &ids, `select job_id from tekrar.`+table+` order by job_id desc limit $1`, limit)
		if err != nil || len(ids) == 0 {
			return err
		}
		var targets []jobs.Target
		for _, id := range ids {
			targets = append(targets, jobs.Target{ID: id, Expected: s})
		}
		_, err = act(targets)
		return err
	}
	requeue := func(b jobs.Budget) func([]jobs.Target) ([]jobs.Moved, error) {
		return func(t []jobs.Target) ([]jobs.Moved, error) { return x.client.Requeue(ctx, "ada", b, t...) }
	}
	remove := func(t []jobs.Target) ([]jobs.Moved, error) { return x.client.Delete(ctx, "bob", t...) }
	switch n % 10 {
	case 0:
		return x.client.PauseQueue(ctx, "ada", "mail")
	case 1:
		err = some("failed", store.Failed, 3, requeue(jobs.KeepRetries))
	case 2:
		err = some("failed", store.Failed, 2, remove)
	case 3:
		err = some("scheduled", store.Scheduled, 2, remove)
	case 4:
		return x.client.ResumeQueue(ctx, "ada", "mail")
	case 5:
		var ids []int64
		err = x.db.SelectContext(ctx, &ids, `select job_id from tekrar.history where state = 6 order by id desc limit 1`)
		for _, id := range ids {
			_, err = x.client.Restore(ctx, "bob", jobs.Target{ID: id, Expected: store.Deleted})
		}
	case 6:
		err = some("failed", store.Failed, 2, requeue(jobs.FreshBudget))
	case 7:
		if n%40 == 7 {
			_, err = x.client.StartBulk(ctx, "ada", jobs.Bulk{Action: "delete", Filter: store.JobFilter{State: store.Failed, Kind: "shaky"}, SeenAt: time.Now(), Expected: 9})
		}
	case 8:
		err = x.muteOne(ctx, n%20 == 8)
	case 9:
		err = some("running", store.Processing, 1, func(t []jobs.Target) ([]jobs.Moved, error) { return x.client.Cancel(ctx, "bob", t...) })
	}
	return err
}

func (x *site) muteOne(ctx context.Context, on bool) error {
	var group struct {
		Kind        string
		Fingerprint int64
	}
	if err := x.db.GetContext(ctx, &group, `select kind, fingerprint from tekrar.failed where kind = 'broken' order by fingerprint limit 1`); err != nil {
		return store.ErrNotFound
	}
	if on {
		return x.client.MuteFailures(ctx, "ada", group.Kind, group.Fingerprint)
	}
	return x.client.UnmuteFailures(ctx, "ada", group.Kind, group.Fingerprint)
}

// called writes down what the provider of a mail was asked: delivered, replayed, refused
// or without an answer, now and then with a key of another content.
func (x *site) called(ctx context.Context, n int, job int64) error {
	return x.db.Tx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into tekrar.provider_calls (ended_at, job_id, duration_us, attempt, status, replayed, provider, key, sent_key, payload, outcome, reference, error)
select case when $1 % 5 <> 4 then clock_timestamp() end, $2, case when $1 % 5 <> 4 then $1 * 37 end, 1 + $1 % 2, case when $1 % 5 <> 4 then 200 + $1 % 3 * 100 end, $1 % 6 = 0, 'post',
  'mail-' || $1 / 2, 'mail-' || $1 / 2, 'content-' || $1 / 3, case when $1 % 5 = 4 then null when $1 % 7 = 1 then 'refused' else 'delivered' end, 'ref-' || $1, case when $1 % 7 = 1 then 'refused' end`, n, job)
		return err
	})
}

// loaded runs the engine and the load until the test ends.
func (x *site) loaded() {
	x.t.Helper()
	load := x.busy()
	x.seedPast()
	x.work()
	x.schedule(jobs.RecurringSpec{ID: "often", Kind: "shaky", Spec: "@every 1s", Args: []byte(`{"N": 1}`)})
	x.schedule(jobs.RecurringSpec{ID: "held", Kind: "easy", Spec: "@every 2s", Overlap: jobs.OverlapSkip, Paused: true})
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := load(ctx); err != nil {
			x.t.Error(err)
		}
	})
	x.t.Cleanup(func() { stop(); done.Wait() })
}

// seedPast are statistics of the eight days before: in every ten minutes twenty first
// attempts of which ten succeed, and ten that succeed later.
func (x *site) seedPast() {
	x.past(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
select m, 0, 10, 1000 * (o.outcome + o.attempt), 500, o.outcome, o.attempt, 3, 'reports', 'slow'
from generate_series(date_trunc('hour', now()) - interval '8 days', date_trunc('hour', now()) - interval '12 hours', interval '10 minutes') m,
  (values (1, 1), (2, 1), (1, 2)) o(outcome, attempt)`)
}
