package bookstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tekrar/tekrar/jobs"
)

// InvoiceEmailNaive checks whether the mail went out, sends it, and records it.
type InvoiceEmailNaive struct {
	InvoiceID int64 `json:"invoice_id"`
}

// InvoiceEmailClaimFirst claims the mail before it sends, as the article does, and
// takes somebody else's claim for success.
type InvoiceEmailClaimFirst struct {
	InvoiceID int64 `json:"invoice_id"`
}

// Kind names the job.
func (InvoiceEmailNaive) Kind() string { return "invoice-email-naive" }

// Kind names the job.
func (InvoiceEmailClaimFirst) Kind() string { return "invoice-email-claim-first" }

func (l *Lab) mailNaive(ctx context.Context, job *jobs.Job[InvoiceEmailNaive]) error {
	id := job.Args.InvoiceID
	sent, err := l.tables.sentBefore(ctx, naiveKey(id))
	if err != nil || sent {
		return err
	}
	l.fault.reach("claimed", id)
	message, err := l.send(ctx, id, "")
	if err != nil {
		return err
	}
	l.fault.reach("sent", id)
	return l.tables.record(ctx, naiveKey(id), message)
}

func (l *Lab) mailClaimFirst(ctx context.Context, job *jobs.Job[InvoiceEmailClaimFirst]) error {
	id := job.Args.InvoiceID
	key := claimFirstKey(id)
	ours, err := l.tables.claimMail(ctx, key)
	if err != nil {
		return err
	}
	if !ours {
		return nil // the flaw: whoever has it may be dead
	}
	l.fault.reach("claimed", id)
	message, err := l.send(ctx, id, key)
	if err != nil {
		return err
	}
	l.fault.reach("sent", id)
	return l.tables.markSent(ctx, key, message)
}

// The two share a table but no invoice: each scenario takes a new number.
func naiveKey(id int64) string      { return fmt.Sprintf("invoice-email-naive:%d", id) }
func claimFirstKey(id int64) string { return fmt.Sprintf("invoice-email-claim-first:%d", id) }

// recipient is where the mail of an invoice goes: what the mails are counted by.
func recipient(id int64) string { return fmt.Sprintf("invoice-%d@customers.example", id) }

func mailOf(id int64) Mail {
	return Mail{To: recipient(id), Subject: fmt.Sprintf("Your invoice %d", id)}
}

func (l *Lab) request(ctx context.Context, id int64) (*http.Request, error) {
	if id < 1 {
		return nil, jobs.Permanent(fmt.Errorf("invoice_id is %d, must be 1 or more", id))
	}
	body, err := json.Marshal(mailOf(id))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(withInvoice(ctx, id), http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// send is a mail client as many programs have it.
func (l *Lab) send(ctx context.Context, id int64, key string) (messageID string, err error) {
	req, err := l.request(ctx, id)
	if err != nil {
		return "", err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := l.plain.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("mail provider answered with status %d", resp.StatusCode)
	}
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return "", fmt.Errorf("mail provider's answer: %w", err)
	}
	return a.MessageID, nil
}
