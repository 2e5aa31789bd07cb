package idempotency_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// on registers one handler that retries at once.
func on(fn func(context.Context, *jobs.Job[send]) error) func(*jobs.Client) {
	return func(c *jobs.Client) {
		jobs.Handle(c, fn, jobs.Retry(jobs.RetryPolicy{MaxRetries: 5, Backoff: jobs.Fixed(0)}))
	}
}

func (b *bench) rule(d store.JobDetail) string {
	b.Helper()
	var data struct{ Rule, Error string }
	b.ok(json.Unmarshal(d.History[0].Data, &data))
	return data.Rule
}

// Rule 2: whatever the handler returns, an unsettled claim is no success.
func TestSuccessGateRefusesUnsettledClaims(t *testing.T) {
	b := setup(t)
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		out, err := b.Claim(ctx, nil, idempotency.NewKey("mail", j.Args.Invoice))
		if err != nil || out.Result != idempotency.Held {
			return errors.Join(err, out.Err())
		}
		switch j.Args.Invoice {
		case 2:
			_ = out.Claim.Begin(ctx)
		case 3:
			_ = out.Claim.Unknown(ctx, errors.New("timeout"))
		case 4:
			_ = out.Claim.Begin(ctx)
			return out.Claim.Done(ctx, "msg")
		case 5:
			return out.Claim.Release(ctx, "not wanted")
		}
		return nil
	}))
	for invoice, open := range map[int]string{1: "claimed", 2: "begun", 3: "unknown"} {
		d := b.waitFor(b.enqueue(c, send{invoice}), store.Failed)
		b.same("unsettled effect claim", b.rule(d))
		b.same(fmt.Sprintf("the handler returned without an error, but its effect claim mail:%d is %s", invoice, open), d.ErrorLine)
		b.same([]string{"enqueued", "processing", "failed: An error occurred during attempt 1"}, told(d))
	}
	b.waitFor(b.enqueue(c, send{4}), store.Succeeded)
	b.waitFor(b.enqueue(c, send{5}), store.Succeeded)
}

// Rule 1: who finds the key held does not succeed; it waits and uses no retry.
func TestBusySnoozesUntilTheHolderIsDone(t *testing.T) {
	b := setup(t)
	var p post
	began, goOn := make(chan struct{}), make(chan struct{})
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		_, err := b.Do(ctx, mail, func(ctx context.Context, c *idempotency.Claim) (any, error) {
			close(began)
			<-goOn
			return p.send(ctx, c)
		})
		return err
	}))
	first := b.enqueue(c, send{1})
	<-began
	second := b.enqueue(c, send{2})
	d := b.waitFor(second, store.Scheduled)
	b.same("Snoozed", d.Reason)
	b.same(0, d.Retry)
	close(goOn)
	b.waitFor(first, store.Succeeded)
	b.waitFor(second, store.Succeeded)
	b.same(int64(1), p.sent.Load())
}

// Rule 5: unknown and hold is failed, and not retried by itself.
func TestUnknownHoldsTheJob(t *testing.T) {
	b := setup(t)
	tries := 0
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		tries++
		_, err := b.Do(ctx, mail, func(context.Context, *idempotency.Claim) (any, error) {
			return nil, errors.New("no answer in 10 s")
		})
		return err
	}))
	d := b.waitFor(b.enqueue(c, send{1}), store.Failed)
	b.same("outcome unknown", b.rule(d))
	b.same("outcome unknown: the effect of invoice-email:42 began and may have happened: no answer in 10 s", d.ErrorLine)
	b.same(1, tries)
}

// Rule 9: the next attempt finds the claim of the one before at once, whatever
// StaleAfter says, since the engine knows that the attempt is over.
func TestNextAttemptTakesOverAtOnce(t *testing.T) {
	b := setup(t)
	var p post
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		if j.Attempt == 1 {
			if out, err := b.Claim(ctx, nil, mail); err != nil || out.Result != idempotency.Held {
				return errors.Join(err, out.Err())
			}
			panic("killed after the claim")
		}
		_, err := b.Do(ctx, mail, p.send)
		return err
	}))
	began := time.Now()
	d := b.waitFor(b.enqueue(c, send{1}), store.Succeeded)
	b.same(2, d.Attempt)
	b.same(int64(1), p.sent.Load())
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %v", took)
	}
	b.same(1, ask[int](b, `select reclaims from tekrar.effect_claims`))
}

// A handler that goes on after its job was taken is stopped at Begin.
func TestZombieOfATakenJobCannotBegin(t *testing.T) {
	b := setup(t)
	held, taken, said := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		out, err := b.Claim(ctx, nil, mail)
		if err != nil {
			return err
		}
		close(held)
		<-taken
		ctx = context.WithoutCancel(ctx)
		said <- out.Claim.Begin(ctx)
		_, err = b.Claim(ctx, nil, idempotency.NewKey("another", "effect"))
		said <- err
		return nil
	}))
	id := b.enqueue(c, send{1})
	<-held
	_, err := c.Delete(b.ctx, "Ada", jobs.Target{ID: id, Expected: store.Processing})
	b.ok(err)
	close(taken)
	b.lost(<-said)
	b.lost(<-said)
	b.same(1, ask[int](b, `select count(*) from tekrar.effect_claims`))
	out := b.claim(b.another(), mail)
	b.same(idempotency.Held, out.Result)
}

// UNQ-11: one key over all attempts, another for each job and step.
func TestUNQ11ProviderKeyIsStableOverRetries(t *testing.T) {
	b := setup(t)
	keys := make(chan string, 100)
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		for _, step := range []string{"charge", "mail"} {
			_, err := b.Do(ctx, idempotency.NewKey(step, j.Args.Invoice), func(ctx context.Context, c *idempotency.Claim) (any, error) {
				keys <- c.ProviderKey()
				if j.Attempt < 3 {
					return nil, errors.New("timeout")
				}
				return "ok", nil
			}, idempotency.OnUnknown(idempotency.Resend))
			if err != nil {
				return err
			}
		}
		return nil
	}))
	one, two := b.enqueue(c, send{1}), b.enqueue(c, send{2})
	b.waitFor(one, store.Succeeded)
	b.waitFor(two, store.Succeeded)
	close(keys)
	seen := map[string]int{}
	for k := range keys {
		seen[k]++
	}
	b.same(map[string]int{"charge:1": 3, "charge:2": 3, "mail:1": 1, "mail:2": 1}, seen)
}

func TestDriftIsFoundWhenTheKeyChanges(t *testing.T) {
	b := setupWith(t, idempotency.Config{Drift: idempotency.Strict, Guard: idempotency.Off})
	c := b.engine(on(idempotency.Checked(b.Claims, func(ctx context.Context, j *jobs.Job[send]) error {
		_, err := b.Do(ctx, idempotency.NewKey("mail", fmt.Sprintf("try-%d", j.Attempt)), func(context.Context, *idempotency.Claim) (any, error) {
			if j.Attempt == 1 {
				panic("killed after the send")
			}
			return "msg", nil
		})
		return err
	})))
	d := b.waitFor(b.enqueue(c, send{1}), store.Failed)
	b.same("idempotency key changed between attempts", b.rule(d))
	b.same("the idempotency key changed between attempts: attempt 2 succeeded without touching mail:try-1", d.ErrorLine)
}

// Without Checked the gate says so too.
func TestGateNamesDrift(t *testing.T) {
	b := setupWith(t, idempotency.Config{Guard: idempotency.Off})
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		if j.Attempt > 1 {
			return nil
		}
		_, err := b.Do(ctx, mail, func(context.Context, *idempotency.Claim) (any, error) { panic("killed after the send") })
		return err
	}))
	d := b.waitFor(b.enqueue(c, send{1}), store.Failed)
	b.same("the handler returned without an error, but its effect claim invoice-email:42 is begun since attempt 1: this attempt did not touch it, so the key changed", d.ErrorLine)
}
