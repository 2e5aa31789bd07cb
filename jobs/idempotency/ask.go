package idempotency

import (
	"context"
	"errors"
	"fmt"
)

// ask takes an effect in doubt over, so that one contender asks, and asks the
// provider. The outcome is Done, Held (it did not happen), or Unknown still. An
// error of the probe is an ordinary one: the next attempt asks again.
func (c *Claims) ask(ctx context.Context, key Key, o options) (Outcome, error) {
	take := o
	take.onUnknown = Resend
	out, err := c.claim(ctx, nil, key, take, false)
	if err != nil || out.Result != Held {
		return out, err
	}
	claim := out.Claim
	claim.opts = o
	answer, receipt, probeErr := o.probe(ctx, claim)
	if probeErr == nil {
		switch answer {
		case Happened:
			if err := claim.mark(ctx, receipt); err != nil {
				return Outcome{}, err
			}
			return Outcome{Result: Done, Receipt: []byte(receiptText(receipt)), key: out.key}, nil
		case NotThere:
			row, err := c.db.UndoubtEffect(ctx, nil, claim.key, claim.token)
			return out, claim.wrote("clear", row, err)
		}
	}
	after, cancel := aftermath(ctx)
	defer cancel()
	if probeErr != nil { // asking can be tried again
		probeErr = fmt.Errorf("ask whether the effect of %s happened: %w", claim.key, probeErr)
		return Outcome{}, errors.Join(probeErr, claim.Unknown(after, probeErr))
	}
	if err := claim.Unknown(after, errors.New("the provider cannot say whether it happened")); err != nil {
		return Outcome{}, err
	}
	return outcomeOf(claim.last(), o), nil
}
