package web

import (
	"context"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// apiDecision is a claim as a program saw it, and why it decides.
type apiDecision struct {
	Token    string `json:"token"`
	Expected string `json:"expected"`
	Note     string `json:"note"`
}

// apiClaimAct decides on the claim of the address if it is still as it was seen; of
// several that decide at once one wins.
func apiClaimAct(do string) func(*request) error {
	return func(r *request) error {
		var a apiDecision
		if err := r.read(&a); err != nil {
			return err
		}
		key, err := r.named("key")
		if err != nil {
			return err
		}
		seen, err := a.seen()
		if err != nil {
			return err
		}
		note, err := plain("note", a.Note)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
		defer cancel()
		err = r.d.claimsOf.Decide(ctx, r.who.Name, key, seen, decisions[do], note)
		if err != nil && !errors.Is(err, store.ErrStateChanged) {
			return cut(ctx, err)
		}
		now, gone := r.d.effect(ctx, key)
		switch {
		case gone != nil:
			return cut(ctx, gone)
		case err != nil:
			return claimNotAsSeen(do, now)
		}
		return r.answer(fiber.StatusOK, apiClaimOf(now))
	}
}

func (a apiDecision) seen() (s idempotency.Seen, err error) {
	token, ok := jobID(a.Token)
	if !ok {
		return s, badInput("Field token: must be the token with which you saw the claim, as text.")
	}
	i := slices.IndexFunc(store.EffectStates, func(s store.EffectState) bool { return s.String() == a.Expected })
	if i < 0 {
		return s, badInput("Field expected: must be the state in which you saw the claim, one of %v.", store.EffectStates)
	}
	return idempotency.Seen{Token: token, State: store.EffectStates[i]}, nil
}

func claimNotAsSeen(do string, now store.Effect) error {
	said := "The claim is not as you saw it, or its holder lives. Nothing was changed."
	if do == "reclaim" {
		said = "The claim was taken over before, or its holder lives. Nothing was changed."
	}
	return problem{refuse(fiber.StatusConflict, "%s", said), "state-changed", map[string]any{"claim_state": now.State.String()}}
}
