package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

func claimsReclaim(fs *flag.FlagSet) action {
	return claimsDecide(fs, store.EffectReclaim, "reclaimed", "will be taken from its holder")
}

func claimsDelivered(fs *flag.FlagSet) action {
	return claimsDecide(fs, store.EffectDelivered, "delivered", "will count as delivered: nothing is sent under this key any more")
}

func claimsNotDelivered(fs *flag.FlagSet) action {
	return claimsDecide(fs, store.EffectNotDelivered, "not delivered", "will count as not delivered: the next attempt sends")
}

func claimsAgain(fs *flag.FlagSet) action {
	return claimsDecide(fs, store.EffectAgain, "to be sent again", "will be sent a second time by the next attempt, under a new provider key")
}

// claimsDecide reads the claim first: the decision is about what it is now, and is
// refused when it moves until then.
func claimsDecide(fs *flag.FlagSet, d store.EffectDecision, now, consequence string) action {
	yes := fs.Bool("yes", false, "do not ask")
	note := fs.String("note", "", "why, for the audit")
	token := fs.Int64("token", 0, "only if this is still its token, as claims show said")
	asJSON := fs.Bool("json", false, "one JSON object: claim, now")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withSchema(ctx, c, func(db *store.DB) error {
			claims, err := idempotency.New(db, idempotency.Config{Logger: p.logger(c)})
			if err != nil {
				return err
			}
			e, err := db.Effect(ctx, args[0])
			if err != nil {
				return claimError(args[0], err)
			}
			if *token != 0 && *token != e.Token {
				return fmt.Errorf("claim %q: its token is %d now, so nothing was changed", e.Key, e.Token)
			}
			if err := p.confirm(ctx, *yes, "Claim %q is %s, held by %s. It %s.", e.Key, claimState(e), claimHolder(e), consequence); err != nil {
				return err
			}
			err = claims.Decide(ctx, actor(), e.Key, idempotency.Seen{Token: e.Token, State: e.State}, d, *note)
			if err != nil {
				return claimError(e.Key, err)
			}
			return p.did(*asJSON, "claim", e.Key, now)
		})
	}
}
