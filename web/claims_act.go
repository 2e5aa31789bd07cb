package web

import (
	"context"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

var decisions = map[string]store.EffectDecision{
	"reclaim": store.EffectReclaim, "delivered": store.EffectDelivered, "not-delivered": store.EffectNotDelivered, "again": store.EffectAgain,
}

var claimDid = map[string]string{
	"reclaim claim":       locale.Sentence("Won: the claim was taken from its holder."),
	"delivered claim":     locale.Sentence("Marked as delivered: nothing is sent under this key any more."),
	"not-delivered claim": locale.Sentence("Marked as not delivered: the key is free, and the next attempt sends."),
	"again claim":         locale.Sentence("To be sent again: the next attempt sends under a new provider key."),
	"dry purge":           locale.Sentence("Dry run enqueued. What it counts is shown below when it has run."),
	"run purge":           locale.Sentence("Purge enqueued. What it did is shown below when it has run."),
}

// pressed is a claim as the person saw it, and what to do about it.
type pressed struct {
	do, key, back string
	seen          idempotency.Seen
}

// claimsConfirm says what a decision will do. It changes nothing.
func claimsConfirm(r *request) error {
	p, err := r.claimPressed()
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	e, err := r.d.effect(ctx, p.key)
	if err != nil {
		return cut(ctx, err)
	}
	row := presentClaim(e)
	if e.Token != p.seen.Token || e.State != p.seen.State || !row.CanDecide(p.do) {
		return r.claimMoved(p)
	}
	confirm := views.ClaimConfirmProps{ClaimRowProps: row, Do: p.do, Back: r.d.local(p.back)}
	return r.page(fiber.StatusOK, views.ClaimConfirmPage(r.layout(r.locale().Say("Confirm"), "claims"), confirm))
}

// claimsAct carries out a decision on the claim that is still as the person saw it.
func claimsAct(r *request) error {
	p, err := r.claimPressed()
	if err != nil {
		return err
	}
	note, err := r.field("note")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	err = r.d.claimsOf.Decide(ctx, r.who.Name, p.key, p.seen, decisions[p.do], note)
	if errors.Is(err, store.ErrStateChanged) {
		if _, gone := r.d.db.Effect(ctx, p.key); errors.Is(gone, store.ErrNotFound) {
			return gone
		}
		return r.claimMoved(p)
	}
	if err != nil {
		return cut(ctx, err)
	}
	r.leaveNotice(notice{Do: p.do + " claim", Done: 1})
	return r.seeOther(p.back)
}

// claimPressed reads the button and the claim, and checks the role for it.
func (r *request) claimPressed() (p pressed, err error) {
	claim, state := "", ""
	for _, f := range []struct {
		name string
		into *string
	}{{"do", &p.do}, {"key", &p.key}, {"claim", &claim}, {"seen", &state}, {"back", &p.back}} {
		if *f.into, err = r.field(f.name); err != nil {
			return p, err
		}
	}
	if _, known := decisions[p.do]; !known {
		return p, badInput("Field do: unknown %s. Known ones: reclaim, delivered, not-delivered, again.", shorten(p.do))
	}
	if !can(r.who.Role, decideClaim) {
		return p, refuse(fiber.StatusForbidden, "Your role does not allow this.")
	}
	if p.key == "" {
		return p, badInput("Field key: must not be empty.")
	}
	token, ok := jobID(claim)
	if !ok {
		return p, badInput("Field claim: %s is not the number of a claim.", shorten(claim))
	}
	i := slices.IndexFunc(store.EffectStates, func(s store.EffectState) bool { return s.String() == state })
	if i < 0 {
		return p, badInput("Field seen: unknown %s. Known ones: %v.", shorten(state), store.EffectStates)
	}
	p.seen = idempotency.Seen{Token: token, State: store.EffectStates[i]}
	return p, nil
}

// claimMoved says so calmly; a reclaim that came too late has lost.
func (r *request) claimMoved(p pressed) error {
	m := views.MessageProps{
		Status: fiber.StatusConflict, Title: r.locale().Say("The claim moved meanwhile"),
		Sentence: r.locale().Say("It is no longer as it was on your screen, so nothing was changed. Its page says what it is now."),
		LinkText: r.locale().Say("To the claim"), LinkHref: r.d.links.Claim(p.key),
	}
	if p.do == "reclaim" {
		m.Title = r.locale().Say("Lost: somebody else was faster")
		m.Sentence = r.locale().Say("The claim was taken over before you, or its holder lives. Nothing was changed. Its page says who has it now.")
	}
	return r.message(m)
}

// claimsPurge enqueues a purge or a dry run; asked first, it says what a purge does.
func claimsPurge(r *request) error {
	do, err := r.field("do")
	if err != nil {
		return err
	}
	if do != "dry" && do != "ask" && do != "run" {
		return badInput("Field do: unknown %s. Known ones: dry, ask, run.", shorten(do))
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	card := r.d.purgeCard(ctx)
	if card.LoadFailed {
		return cut(ctx, errPart)
	}
	if !card.Handled {
		return r.message(views.MessageProps{
			Status: fiber.StatusConflict, Title: r.locale().Say("No server runs purges"),
			Sentence: r.locale().Say("No live server handles the kind claims-purge, so the job would wait for ever. Nothing was enqueued."),
			LinkText: r.locale().Say("To the claims"), LinkHref: r.d.links.Claims("", ""),
		})
	}
	if do == "ask" {
		return r.page(fiber.StatusOK, views.PurgeConfirmPage(r.layout(r.locale().Say("Purge"), "claims"), card))
	}
	id, err := r.d.claimsOf.EnqueuePurge(ctx, r.d.client, r.who.Name, idempotency.PurgeJob{DryRun: do == "dry"})
	if err != nil {
		return cut(ctx, err)
	}
	r.leaveNotice(notice{Do: do + " purge", Done: 1, Jobs: ranges([]int64{id})})
	return r.seeOther(r.d.links.Claims("", ""))
}
