package outbound

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/jobs/idempotency"
)

// ClaimOptions are what the provider's profile means for its claims, to be given to
// Claims.Do. The effect begins in Client.Do. A provider that honours keys is sent
// the same request again, within its key life less a margin of a tenth, at most
// five minutes. One that does not is asked if it can be (LookUp), or the claim is
// held for a person; idempotency.OnUnknown behind these says otherwise.
func (c *Client) ClaimOptions() []idempotency.Option {
	p, options := c.Profile, []idempotency.Option{idempotency.BeginInside()}
	if p.Honours() {
		options = append(options, idempotency.OnUnknown(idempotency.Resend))
		if p.KeyLife > 0 {
			options = append(options, idempotency.KeyLife(p.KeyLife, p.margin()))
		}
		return options
	}
	if p.LookUp != nil {
		options = append(options, idempotency.AskFirst(c.probe))
	}
	return options
}

// margin is the last part of the key life that is not relied on: clocks differ, and a
// request takes its time.
func (p Profile) margin() time.Duration { return min(p.KeyLife/10, 5*time.Minute) }

func (c *Client) probe(ctx context.Context, claim *idempotency.Claim) (idempotency.Answer, any, error) {
	found, err := c.LookUp(ctx, claim.ProviderKey())
	switch {
	case err != nil || found.Running:
		return idempotency.NoAnswer, nil, err
	case !found.Known:
		return idempotency.NotThere, nil, nil
	}
	return idempotency.Happened, Receipt{Provider: c.Profile.Name, Reference: found.Reference, At: time.Now().UTC()}, nil
}
