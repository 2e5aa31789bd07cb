package bookstore

import (
	"context"
	"fmt"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/jobs/idempotency/outbound"
)

// InvoiceEmailToolkit sends with package idempotency.
type InvoiceEmailToolkit struct {
	InvoiceID int64 `json:"invoice_id"`
	// Provider: "keys" (or "") honours idempotency keys; "hold" and "resend" know
	// none, and say what becomes of a mail whose outcome is unknown.
	Provider string `json:"provider,omitempty"`
}

// Kind names the job.
func (InvoiceEmailToolkit) Kind() string { return "invoice-email-toolkit" }

func (l *Lab) mailWithToolkit(ctx context.Context, job *jobs.Job[InvoiceEmailToolkit]) error {
	id := job.Args.InvoiceID
	client, options := l.keyed, l.keyed.ClaimOptions()
	switch job.Args.Provider {
	case "", "keys":
	case "hold":
		client, options = l.keyless, l.keyless.ClaimOptions()
	case "resend":
		client, options = l.keyless, append(l.keyless.ClaimOptions(), idempotency.OnUnknown(idempotency.Resend))
	default:
		return jobs.Permanent(fmt.Errorf("provider is %q, must be keys, hold or resend", job.Args.Provider))
	}
	_, err := l.claims.Do(ctx, idempotency.NewKey("invoice-email", id), func(ctx context.Context, c *idempotency.Claim) (any, error) {
		l.fault.reach("claimed", id)
		req, err := l.request(ctx, id)
		if err != nil {
			return nil, err
		}
		if _, err = client.Do(req, c.ProviderKey(), c); err == nil {
			l.fault.reach("marked", id)
		} else {
			l.fault.reach("failed", id)
		}
		return nil, err // the receipt is written with Done
	}, options...)
	return err
}

// profiles of the made-up provider, with and without its keys.
func keyedProfile() outbound.Profile {
	p := outbound.Article()
	p.Name = "mail provider"
	return p
}

func keylessProfile() outbound.Profile {
	p := outbound.NoKeys()
	p.Name = "mail provider without keys"
	return p
}
