package idempotency

import (
	"context"
	"errors"
	"fmt"
)

// ask takes an effect in doubt over, so that one contender asks, and asks the
// provider. The outcome is Done, Held (it did not happen), or Unknown still.
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
	if probeErr == nil {
		probeErr = errors.New("the provider cannot say")
	}
	after, cancel := aftermath(ctx)
	defer cancel()
	if err := claim.Unknown(after, fmt.Errorf("asked: %w", probeErr)); err != nil {
		return Outcome{}, errors.Join(err, probeErr)
	}
	return outcomeOf(claim.last(), o), nil
}
