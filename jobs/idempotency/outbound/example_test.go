package outbound_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/jobs/idempotency/outbound"
)

type invoiceEmail struct {
	InvoiceID int64 `json:"invoice_id"`
}

func (invoiceEmail) Kind() string { return "invoice-email" }

// A handler that mails an invoice once, however often it runs.
func Example() {
	db, err := jobs.Open("postgres://localhost/shop")
	if err != nil {
		panic(err)
	}
	client, err := jobs.New(db, jobs.Config{})
	if err != nil {
		panic(err)
	}
	claims, err := idempotency.New(db, idempotency.Config{})
	if err != nil {
		panic(err)
	}
	provider := outbound.Article()
	provider.Name, provider.KeyLife = "mailer", 48*time.Hour
	mailer := &outbound.Client{Profile: provider, Timeout: 10 * time.Second}

	jobs.Handle(client, func(ctx context.Context, job *jobs.Job[invoiceEmail]) error {
		key := idempotency.NewKey("invoice-email", job.Args.InvoiceID)
		_, err := claims.Do(ctx, key, func(ctx context.Context, c *idempotency.Claim) (any, error) {
			body := fmt.Appendf(nil, `{"to":"ada@example.com","subject":"Your invoice %d"}`, job.Args.InvoiceID)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://mail.example/emails", bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			_, err = mailer.Do(req, c.ProviderKey(), c)
			return nil, err // Do has kept the receipt
		}, mailer.ClaimOptions()...)
		return err
	}, jobs.Timeout(time.Minute))

	for _, w := range outbound.CheckHorizon(jobs.DefaultRetry(), time.Minute, 30*time.Second, outbound.ShortMail()) {
		fmt.Println(w)
	}
	// Output: retry 2 may start 4m58s after the first request, beyond the key life of short-mail (5m0s less 30s); the last one ends after 5h1m8s
}
