package idempotency_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// post counts the mails of a provider without keys.
type post struct{ sent atomic.Int64 }

func (p *post) send(context.Context, *idempotency.Claim) (any, error) {
	return map[string]string{"messageId": fmt.Sprintf("msg-%04d", p.sent.Add(1))}, nil
}

func TestDoDoesItOnceAndRemembersTheReceipt(t *testing.T) {
	b := setup(t)
	var p post
	for range 3 {
		receipt, err := b.Do(b.ctx, mail, p.send)
		b.ok(err)
		var r struct{ MessageID string }
		b.ok(json.Unmarshal(receipt, &r))
		b.same("msg-0001", r.MessageID)
	}
	b.same(int64(1), p.sent.Load())
}

func TestDoErrorsByWhatIsKnown(t *testing.T) {
	b := setup(t)
	timeout, refused := errors.New("timeout"), errors.New("connection refused")
	fails := func(err error) idempotency.Effect {
		return func(context.Context, *idempotency.Claim) (any, error) { return nil, err }
	}
	for _, c := range []struct {
		name    string
		fn      idempotency.Effect
		opts    []idempotency.Option
		state   string
		unknown bool
	}{
		{"ambiguous, hold", fails(timeout), nil, "unknown", true},
		{"ambiguous, resend", fails(timeout), []idempotency.Option{idempotency.OnUnknown(idempotency.Resend)}, "unknown", false},
		{"not begun", fails(timeout), []idempotency.Option{idempotency.BeginInside()}, "released", false},
		{"released by fn", func(ctx context.Context, c *idempotency.Claim) (any, error) {
			return nil, errors.Join(refused, c.Release(ctx, "connection refused"))
		}, nil, "released", false},
		{"begun inside", func(ctx context.Context, c *idempotency.Claim) (any, error) {
			return nil, errors.Join(timeout, c.Begin(ctx))
		}, []idempotency.Option{idempotency.BeginInside()}, "unknown", true},
		{"done by fn", func(ctx context.Context, c *idempotency.Claim) (any, error) {
			return nil, c.Done(ctx, "msg")
		}, nil, "done", false},
	} {
		key := idempotency.NewKey("mail", c.name)
		_, err := b.Do(b.ctx, key, c.fn, c.opts...)
		if (err == nil) != (c.state == "done") {
			t.Errorf("%s: error %v", c.name, err)
		}
		var unknown *idempotency.UnknownError
		b.same(c.unknown, errors.As(err, &unknown))
		if got := b.state(key); got != c.state {
			t.Errorf("%s: claim is %s, want %s", c.name, got, c.state)
		}
	}
}

func TestDoAsksTheProvider(t *testing.T) {
	b := setup(t)
	for answer, want := range map[idempotency.Answer]struct {
		state string
		sent  int64
		fails bool
	}{
		idempotency.Happened: {"done", 0, false}, idempotency.NotThere: {"done", 1, false}, idempotency.NoAnswer: {"unknown", 0, true},
	} {
		key := idempotency.NewKey("mail", int(answer))
		c := b.claim(b.Claims, key).Claim
		b.ok(c.Begin(b.ctx))
		b.ok(c.Unknown(b.ctx, errors.New("timeout")))
		var p post
		_, err := b.Do(b.ctx, key, p.send, idempotency.AskFirst(func(context.Context, *idempotency.Claim) (idempotency.Answer, any, error) {
			return answer, "msg-0001", nil
		}))
		b.same(want.fails, err != nil)
		b.same(want.state, b.state(key))
		b.same(want.sent, p.sent.Load())
	}
}

func TestAFailedProbeIsTriedAgain(t *testing.T) {
	b := setup(t)
	c := b.hold()
	b.ok(c.Begin(b.ctx))
	b.ok(c.Unknown(b.ctx, errors.New("timeout")))
	var p post
	answer, down := idempotency.NoAnswer, errors.New("the provider is down")
	ask := idempotency.AskFirst(func(context.Context, *idempotency.Claim) (idempotency.Answer, any, error) { return answer, nil, down })
	_, err := b.Do(b.ctx, mail, p.send, ask)
	var unknown *idempotency.UnknownError
	if !errors.Is(err, down) || errors.As(err, &unknown) {
		t.Errorf("%v, want the probe's own error", err)
	}
	b.same("unknown", b.state(mail))
	answer, down = idempotency.NotThere, nil
	_, err = b.Do(b.ctx, mail, p.send, ask)
	b.ok(err)
	b.same("done", b.state(mail))
}

// As provider had processed, but tried again after the key's life: held.
func TestDoHoldsWhatOutlivedItsKey(t *testing.T) {
	b := setup(t)
	life := []idempotency.Option{idempotency.OnUnknown(idempotency.Resend), idempotency.KeyLife(24*time.Hour, time.Hour)}
	_, err := b.Do(b.ctx, mail, func(context.Context, *idempotency.Claim) (any, error) { return nil, errors.New("timeout") }, life...)
	if err == nil {
		t.Fatal("no error")
	}
	b.exec(`update tekrar.effect_claims set effect_at = effect_at - interval '25 h'`)
	var p post
	for range 2 {
		_, err = b.Do(b.ctx, mail, p.send, life...)
		var unknown *idempotency.UnknownError
		if !errors.As(err, &unknown) || !errors.Is(err, idempotency.ErrKeyExpired) {
			t.Errorf("%v, want an UnknownError because of ErrKeyExpired", err)
		}
	}
	b.same("unknown", b.state(mail))
	b.same(int64(0), p.sent.Load())
}

func TestDoStopsWhenTheClaimIsLost(t *testing.T) {
	b := setup(t)
	_, err := b.Do(b.ctx, mail, func(ctx context.Context, c *idempotency.Claim) (any, error) {
		b.age()
		b.same(idempotency.Held, b.claim(b.another(), mail, idempotency.OnUnknown(idempotency.Resend)).Result)
		return nil, c.Begin(ctx)
	})
	b.lost(err)
	b.same("claimed", b.state(mail))
}

// A panic is as a crash: nobody knows, and the next run is told.
func TestDoPanicLeavesTheClaimBegun(t *testing.T) {
	b := setup(t)
	func() {
		defer func() { b.same("boom", recover()) }()
		_, _ = b.Do(b.ctx, mail, func(context.Context, *idempotency.Claim) (any, error) { panic("boom") })
	}()
	b.same("begun", b.state(mail))
}

// Done is tried again while the database is away.
func TestDoneIsRetriedLocally(t *testing.T) {
	b := setup(t)
	down := make(chan struct{})
	_, err := b.Do(b.ctx, mail, func(ctx context.Context, c *idempotency.Claim) (any, error) {
		b.exec(`alter table tekrar.effect_claims rename to away`)
		go func() {
			<-down
			tx, _ := b.db.Beginx()
			_, _ = tx.Exec(`alter table tekrar.away rename to effect_claims`)
			_ = tx.Commit()
		}()
		err := c.Done(ctx, "msg-0001") // as outbound does; the effect happened all the same
		close(down)
		return nil, err
	})
	b.ok(err)
	b.same("done", b.state(mail))
}

func TestGuardWarnsOrRefuses(t *testing.T) {
	b := setupWith(t, idempotency.Config{Guard: idempotency.Strict})
	id := uuid(4)()
	_, err := b.Claim(b.ctx, nil, idempotency.NewKey("mail", id))
	var guard *idempotency.GuardError
	if !errors.As(err, &guard) || !strings.Contains(err.Error(), "UUID") {
		t.Errorf("%v, want a GuardError", err)
	}
	b.same(idempotency.Held, b.claim(b.Claims, idempotency.RawKey(id.(string))).Result)
	b.same(idempotency.Held, b.claim(b.another(), idempotency.NewKey("mail", id)).Result) // only warns
}

type order struct {
	ID string `json:"id"`
}

func (order) Kind() string { return "order" }

// Within a job what its arguments hold is stable; its id and attempt are not in them.
func TestGuardKnowsTheJobsArguments(t *testing.T) {
	b := setupWith(t, idempotency.Config{Guard: idempotency.Strict})
	looks := make(chan [3]string, 1)
	c := b.engine(func(c *jobs.Client) {
		jobs.Handle(c, func(ctx context.Context, j *jobs.Job[order]) error {
			var said [3]string
			for i, part := range []any{j.Args.ID, j.ID, j.Attempt} {
				out, err := b.Claim(ctx, nil, idempotency.NewKey("mail", part))
				var guard *idempotency.GuardError
				if errors.As(err, &guard) {
					said[i] = guard.Looks
				} else if err == nil {
					_ = out.Claim.Release(ctx, "only a test")
				}
			}
			looks <- said
			return nil
		})
	})
	b.exec(`alter table tekrar.jobs alter column id restart with 5000`)
	id := b.enqueue(c, order{ID: uuid(4)().(string)})
	b.same([3]string{"", "the job's id", "the attempt's number"}, <-looks)
	b.waitFor(id, store.Succeeded)
}
