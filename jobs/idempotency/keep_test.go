package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// settled makes a done claim of a job, last used 31 days ago.
func (b *bench) settled(key string, job int64) {
	b.Helper()
	b.exec(`insert into tekrar.effect_claims (key, state, job_id, attempt, server, stale_at, stale_us, touched_at)
		values ($1, 4, nullif($2::bigint, 0), 1, 1, now(), 0, now() - interval '31 days')`, key, job)
}

func TestPurgeNeverDropsClaimsOfLiveOrFailedJobs(t *testing.T) {
	b := setup(t)
	release := make(chan struct{})
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		switch j.Args.Invoice {
		case 1:
			return jobs.Permanent(errors.New("no"))
		case 2:
			<-release
		}
		return nil
	}))
	failed, running := b.enqueue(c, send{1}), b.enqueue(c, send{2})
	waiting, succeeded := b.enqueue(c, send{3}, jobs.In(time.Hour)), b.enqueue(c, send{4})
	b.waitFor(failed, store.Failed)
	b.waitFor(running, store.Processing)
	b.waitFor(succeeded, store.Succeeded)
	for name, job := range map[string]int64{"failed": failed, "running": running, "waiting": waiting, "succeeded": succeeded, "gone": 999_999, "none": 0} {
		b.settled(name, job)
	}
	b.hold()
	young := b.claim(b.Claims, idempotency.NewKey("young")).Claim
	b.ok(young.Done(b.ctx, nil))
	b.exec(`insert into tekrar.effect_receipts (key, token, generation) values ('gone', 1, 1), ('failed', 1, 1)`)

	want := idempotency.Purged{Removed: 3, Young: 1, Unsettled: 1, JobFailed: 1, JobLive: 2}
	for range 2 {
		got, err := b.Purge(b.ctx, idempotency.PurgeOptions{DryRun: true})
		b.ok(err)
		b.same(want, got)
	}
	got, err := b.Purge(b.ctx, idempotency.PurgeOptions{})
	b.ok(err)
	b.same(want, got)
	b.same("failed invoice-email:42 running waiting young", ask[string](b, `select string_agg(key, ' ' order by key) from tekrar.effect_claims`))
	b.same("failed", ask[string](b, `select string_agg(key, ' ') from tekrar.effect_receipts`))
	want.Removed = 0
	got, err = b.Purge(b.ctx, idempotency.PurgeOptions{})
	b.ok(err)
	b.same(want, got)
	close(release)
}

func TestPurgeGoesThroughManyAndSlides(t *testing.T) {
	b := setup(t)
	b.exec(`insert into tekrar.effect_claims (key, state, stale_at, stale_us, touched_at)
		select 'k' || g, 4 + g % 3, now(), 0, now() - interval '31 days' from generate_series(1, 2500) g`)
	out := b.claim(b.Claims, idempotency.NewKey("k3")) // done; asked for again, its window begins anew
	b.same(idempotency.Done, out.Result)
	got, err := b.Purge(b.ctx, idempotency.PurgeOptions{})
	b.ok(err)
	b.same(idempotency.Purged{Removed: 2499, Young: 1}, got)
	_, err = b.Purge(b.ctx, idempotency.PurgeOptions{Window: time.Minute})
	var input *idempotency.InputError
	if !errors.As(err, &input) {
		t.Errorf("%v, want an InputError", err)
	}
}

func TestSweepSettlesWhatWasAbandoned(t *testing.T) {
	b := setup(t)
	for _, begin := range []bool{false, true} {
		c := b.claim(b.Claims, idempotency.NewKey("begun", begin)).Claim
		if begin {
			b.ok(c.Begin(b.ctx))
		}
	}
	b.age()
	live := b.hold()
	got, err := b.Sweep(b.ctx)
	b.ok(err)
	b.same(idempotency.Swept{Unknown: []string{"begun:true"}, Released: []string{"begun:false"}}, got)
	b.ok(live.Begin(b.ctx))
	got, err = b.Sweep(b.ctx)
	b.ok(err)
	b.same(idempotency.Swept{}, got)
}

// The sweep gives a job that left its claim behind, nothing begun, another run; but
// not for ever.
func TestSweepRequeuesJobsOfTheGate(t *testing.T) {
	b := setup(t)
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		_, err := b.Claim(ctx, nil, mail) // and forgets it
		return err
	}))
	id := b.enqueue(c, send{1})
	for range 4 {
		d := b.waitFor(id, store.Failed)
		got, err := b.Sweep(b.ctx)
		b.ok(err)
		if d.Attempt <= 3 {
			b.same([]int64{id}, got.Requeued)
			b.eventually("it ran again", func() bool {
				d2, err := b.db.Job(b.ctx, id, 1, 0)
				return err == nil && d2.Attempt > d.Attempt && d2.State == store.Failed
			})
			continue
		}
		b.same(idempotency.Swept{Stuck: []string{mail.String()}}, got)
	}
}

func TestAPersonDecides(t *testing.T) {
	b := setup(t)
	unknown := func(n int) (key idempotency.Key, token int64) {
		key = idempotency.NewKey("mail", n)
		c := b.claim(b.Claims, key).Claim
		b.ok(c.Begin(b.ctx))
		b.ok(c.Unknown(b.ctx, errors.New("timeout")))
		return key, c.Token()
	}
	key, token := unknown(1)
	b.ok(b.MarkDelivered(b.ctx, "Ada", key.String(), token, "the customer has it"))
	out := b.claim(b.Claims, key)
	b.same(idempotency.Done, out.Result)
	b.same(`{"note": "the customer has it", "marked_by": "Ada"}`, string(out.Receipt))

	key, token = unknown(2)
	b.ok(b.MarkNotDelivered(b.ctx, "Ada", key.String(), token, ""))
	if err := b.MarkNotDelivered(b.ctx, "Bob", key.String(), token, ""); !errors.Is(err, store.ErrStateChanged) {
		t.Errorf("second decision: %v, want ErrStateChanged", err)
	}
	out = b.claim(b.Claims, key)
	b.same(idempotency.Held, out.Result)
	b.same(false, out.Claim.InDoubt())
	b.same(key.String(), out.Claim.ProviderKey())

	var p post
	key = idempotency.NewKey("mail", 3)
	_, err := b.Do(b.ctx, key, p.send, idempotency.Content("old"))
	b.ok(err)
	e, err := b.db.Effect(b.ctx, key.String())
	b.ok(err)
	b.ok(b.SendAgain(b.ctx, "Ada", key.String(), e.Token, "it was lost in the post"))
	_, err = b.Do(b.ctx, key, func(ctx context.Context, c *idempotency.Claim) (any, error) {
		b.same("mail:3~g2", c.ProviderKey())
		return p.send(ctx, c)
	}, idempotency.Content("new"))
	b.ok(err)
	b.same(int64(2), p.sent.Load())
	e, err = b.db.Effect(b.ctx, key.String())
	b.ok(err)
	b.same(2, e.Generation)
	b.same(0, e.Duplicates)

	live := b.hold()
	for _, err := range []error{b.MarkDelivered(b.ctx, "Ada", mail.String(), live.Token(), ""), b.Reclaim(b.ctx, "Ada", mail.String(), live.Token(), "")} {
		if !errors.Is(err, store.ErrStateChanged) {
			t.Errorf("a live claim: %v, want ErrStateChanged", err)
		}
	}
	b.age()
	b.ok(b.Reclaim(b.ctx, "Ada", mail.String(), live.Token(), ""))
	b.same("released", b.state(mail))
	b.same("Ada mark delivered, Ada mark not delivered, Ada send again, Ada reclaim effect",
		ask[string](b, `select string_agg(actor || ' ' || action, ', ' order by id) from tekrar.audit`))
	if err := b.Reclaim(b.ctx, "", mail.String(), 1, ""); err == nil {
		t.Error("no actor: no error")
	}
}

func TestReceiptsOfAnyShapeAreKept(t *testing.T) {
	b := setup(t)
	for i, c := range []struct {
		receipt any
		want    string
	}{
		{nil, `null`}, {"msg-1", `"msg-1"`}, {`{"a":1}`, `{"a": 1}`}, {[]byte("\xff"), `"\ufffd"`}, {struct{ A int }{1}, `{"A": 1}`},
		{"a\x00b", `"a\ufffdb"`}, {`{"a":"\u0000"}`, `"{\"a\":\"\\u0000\"}"`}, {`"\ud800"`, `"\"\\ud800\""`}, {`1e100000`, `"1e100000"`}, {"", `null`},
	} {
		key := idempotency.NewKey("receipt", fmt.Sprint("n", i))
		_, err := b.Do(b.ctx, key, func(context.Context, *idempotency.Claim) (any, error) { return c.receipt, nil })
		if err != nil {
			t.Errorf("%v: %v", c.receipt, err)
			continue
		}
		got := ask[string](b, `select coalesce(receipt, 'null') = $2::jsonb from tekrar.effect_claims where key = $1`, key.String(), c.want)
		if got != "true" {
			t.Errorf("%v is kept as %s, want %s", c.receipt, b.claim(b.Claims, key).Receipt, c.want)
		}
	}
	huge := make([]byte, 1<<20)
	for i := range huge {
		huge[i] = 'x'
	}
	_, err := b.Do(b.ctx, mail, func(context.Context, *idempotency.Claim) (any, error) { return huge, nil })
	b.ok(err)
	b.same(1<<20, ask[int](b, `select (receipt ->> 'bytes')::int from tekrar.effect_claims where key = $1`, mail.String()))
}
