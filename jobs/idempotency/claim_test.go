package idempotency_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs/idempotency"
)

func TestClaimIsHeldOnceThenDone(t *testing.T) {
	b := setup(t)
	c := b.hold()
	out := b.claim(b.another(), mail)
	b.same(idempotency.Busy, out.Result)
	if wait := out.Until.Sub(ask[time.Time](b, `select clock_timestamp()`)); wait < 9*time.Minute || wait > 10*time.Minute {
		t.Errorf("busy for %v, want what is left of 10 minutes", wait)
	}
	b.ok(c.Begin(b.ctx))
	b.same("begun", b.state(mail))
	b.ok(c.Done(b.ctx, `{"messageId": "msg-0001"}`))
	out = b.claim(b.another(), mail)
	b.same(idempotency.Done, out.Result)
	b.same(`{"messageId": "msg-0001"}`, string(out.Receipt))
	b.ok(c.Done(b.ctx, `{"messageId": "msg-0001"}`)) // a lost reply is asked for again
}

func TestReleaseFreesTheKeyAtOnce(t *testing.T) {
	b := setup(t)
	c := b.hold()
	b.ok(c.Begin(b.ctx))
	b.ok(c.Release(b.ctx, "connection refused"))
	next := b.hold()
	if next.Token() <= c.Token() {
		t.Errorf("token %d after %d: it must grow", next.Token(), c.Token())
	}
	b.lost(c.Begin(b.ctx))
	b.lost(c.Release(b.ctx, "again"))
	b.lost(c.Extend(b.ctx, time.Hour))
}

// Rule 5: begun by somebody who is gone is neither done nor free.
func TestBegunAndAbandonedIsUnknown(t *testing.T) {
	b := setup(t)
	c := b.hold()
	b.ok(c.Begin(b.ctx))
	b.age()
	out := b.claim(b.another(), mail)
	b.same(idempotency.Unknown, out.Result)
	if out.Since.IsZero() || time.Since(out.Since) < 10*time.Minute {
		t.Errorf("unknown since %v, want the time of the begin", out.Since)
	}
	b.same("unknown", b.state(mail))

	again := b.claim(b.another(), mail, idempotency.OnUnknown(idempotency.Resend))
	b.same(idempotency.Held, again.Result)
	b.same(true, again.Claim.InDoubt())
	b.ok(again.Claim.Begin(b.ctx))
	// This one certainly did not happen; of the first nobody knows still.
	b.ok(again.Claim.Release(b.ctx, "connection refused"))
	b.same("unknown", b.state(mail))
}

func TestClaimedAndAbandonedIsTakenOver(t *testing.T) {
	b := setup(t)
	c := b.hold()
	b.age()
	out := b.claim(b.another(), mail)
	b.same(idempotency.Held, out.Result)
	b.same(false, out.Claim.InDoubt())
	b.lost(c.Begin(b.ctx))
	b.same(1, ask[int](b, `select reclaims from tekrar.effect_claims`))
}

// Rule 4: a per-row counter would let this zombie back in.
func TestTokenOutlivesDeletion(t *testing.T) {
	b := setup(t)
	zombie := b.hold()
	b.exec(`delete from tekrar.effect_claims`)
	fresh := b.hold()
	if fresh.Token() == zombie.Token() {
		t.Fatal("the token came back")
	}
	b.lost(zombie.Begin(b.ctx))
	b.lost(zombie.Done(b.ctx, "msg-0001"))
	b.same("claimed", b.state(mail))
	b.ok(fresh.Begin(b.ctx))
}

// Rule 4: a receipt that comes too late is evidence; it tells of a duplicate only
// if it is of another effect.
func TestLateReceiptIsKeptAndDuplicatesAreCounted(t *testing.T) {
	b := setup(t)
	first := b.hold()
	b.ok(first.Begin(b.ctx))
	b.age()
	second := b.claim(b.another(), mail, idempotency.OnUnknown(idempotency.Resend)).Claim
	b.ok(second.Begin(b.ctx))
	b.lost(first.Done(b.ctx, `{"messageId":"msg-0001"}`))
	b.lost(first.Done(b.ctx, `{"messageId":"msg-0001"}`)) // asked twice, kept once
	b.same("begun", b.state(mail))
	b.ok(second.Done(b.ctx, `{"messageId":"msg-0002","replayed":false}`))
	e, err := b.db.Effect(b.ctx, mail.String())
	b.ok(err)
	b.same(1, e.Duplicates)
	b.same(1, ask[int](b, `select count(*) from tekrar.effect_receipts`))

	other := idempotency.NewKey("invoice-email", 43)
	first = b.claim(b.Claims, other).Claim
	b.ok(first.Begin(b.ctx))
	b.age()
	second = b.claim(b.another(), other, idempotency.OnUnknown(idempotency.Resend)).Claim
	b.ok(second.Begin(b.ctx))
	b.ok(second.Done(b.ctx, `{"messageId":"msg-0003","replayed":true}`))
	b.lost(first.Done(b.ctx, `{"messageId":"msg-0003","replayed":false}`))
	e, err = b.db.Effect(b.ctx, other.String())
	b.ok(err)
	b.same(0, e.Duplicates)
}

func TestLateReceiptSettlesWhatNobodyKnew(t *testing.T) {
	b := setup(t)
	first := b.hold()
	b.ok(first.Begin(b.ctx))
	b.age()
	second := b.claim(b.another(), mail, idempotency.OnUnknown(idempotency.Resend)).Claim
	b.ok(second.Unknown(b.ctx, errors.New("timeout")))
	b.lost(first.Done(b.ctx, `"msg-0001"`))
	out := b.claim(b.Claims, mail)
	b.same(idempotency.Done, out.Result)
	b.same(`"msg-0001"`, string(out.Receipt))
}

func TestExtendKeepsAClaim(t *testing.T) {
	b := setup(t)
	c := b.hold(idempotency.StaleAfter(time.Second))
	b.ok(c.Extend(b.ctx, time.Hour))
	b.age()
	b.same(idempotency.Busy, b.claim(b.another(), mail).Result)
	b.exec(`update tekrar.effect_claims set stale_at = clock_timestamp() - interval '1 s'`)
	b.same(idempotency.Held, b.claim(b.another(), mail).Result)
}

// Rule 6.
func TestBeginRefusesAfterTheKeysLife(t *testing.T) {
	b := setup(t)
	life := []idempotency.Option{idempotency.OnUnknown(idempotency.Resend), idempotency.KeyLife(24*time.Hour, time.Hour)}
	c := b.hold(life...)
	b.ok(c.Begin(b.ctx))
	first := *c.EffectAt()
	b.ok(c.Unknown(b.ctx, errors.New("timeout")))
	b.exec(`update tekrar.effect_claims set effect_at = effect_at - interval '22 h 59 min'`)
	c = b.hold(life...)
	b.ok(c.Begin(b.ctx))
	if got := *c.EffectAt(); !got.Equal(first.Add(-22*time.Hour - 59*time.Minute)) {
		t.Errorf("effect_at was moved to %v", got)
	}
	b.exec(`update tekrar.effect_claims set effect_at = effect_at - interval '2 min'`)
	if err := c.Begin(b.ctx); !errors.Is(err, idempotency.ErrKeyExpired) {
		t.Errorf("%v, want ErrKeyExpired", err)
	}
}

func TestOtherContentIsAMismatch(t *testing.T) {
	b := setup(t)
	content := func(s string) idempotency.Option { return idempotency.Content(map[string]string{"to": s}) }
	c := b.hold(content("a@example.com"))
	b.ok(c.Release(b.ctx, "nothing was sent"))
	c = b.hold(content("b@example.com")) // the first never began: it is no matter
	b.ok(c.Begin(b.ctx))
	b.same(idempotency.Mismatch, b.claim(b.another(), mail, content("a@example.com")).Result)
	b.same(idempotency.Busy, b.claim(b.another(), mail, content("b@example.com")).Result)
	b.ok(c.Done(b.ctx, nil))
	b.same(idempotency.Mismatch, b.claim(b.another(), mail, content("a@example.com")).Result)
	b.same(idempotency.Done, b.claim(b.another(), mail).Result)
	b.same(idempotency.Held, b.claim(b.another(), mail.Version(2), content("a@example.com")).Result)
}
