package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// WarningKind is the kind of the jobs that tell Config.Webhook of a warning.
const WarningKind = "tekrar.warning-webhook"

// WarningNote is the JSON body of the webhook, and the args of its job.
type WarningNote struct {
	Event    string    `json:"event"` // first_attempt_rate_low
	Since    time.Time `json:"since"` // begin of the episode
	From     time.Time `json:"from"`  // of the window that called it
	To       time.Time `json:"to"`
	First    int64     `json:"first_attempts"`
	FirstOK  int64     `json:"first_attempts_succeeded"`
	Rate     float64   `json:"rate"`      // fraction
	RateHigh float64   `json:"rate_high"` // upper end of its 95 % interval
	Baseline float64   `json:"baseline"`  // what is usual at this time of day
	Text     string    `json:"text"`      // the same as a sentence, for chat programs
}

// Kind is WarningKind.
func (WarningNote) Kind() string { return WarningKind }

func noteOf(w Warning) WarningNote {
	n := WarningNote{
		Event: "first_attempt_rate_low", Since: w.Since.UTC(), From: w.From.UTC(), To: w.To.UTC(), First: w.First, FirstOK: w.FirstOK,
		Rate: float64(w.FirstOK) / float64(max(w.First, 1)), RateHigh: w.High, Baseline: w.Baseline,
	}
	n.Text = fmt.Sprintf("First attempts succeed less often than usual since %s UTC: %.1f %% (%d of %d), usual at this time of day are %.1f %%.",
		n.Since.Format("2006-01-02 15:04"), n.Rate*100, n.FirstOK, n.First, n.Baseline*100)
	return n
}

const (
	webhookTimeout = 15 * time.Second
	webhookKept    = 7 * 24 * time.Hour // how long an episode's key is held
)

// webhookRetry: a warning that comes hours late is none. In all about 40 minutes.
var webhookRetry = RetryPolicy{MaxRetries: 12, Backoff: Exponential(5*time.Second, 2, 5*time.Minute, 0.2)}

func checkWebhook(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return inputError("Config.Webhook", "has to be a whole http:// or https:// address") // never repeats it: it may hold a secret
	}
	return nil
}

// handleWebhook registers the handler of warnings.
func (c *Client) handleWebhook() {
	queue := DefaultQueue
	if c.cfg.Queues != nil {
		if _, ok := c.cfg.Queues[queue]; !ok {
			queue = sortedKeys(c.cfg.Queues)[0]
		}
	}
	sender := &http.Client{
		Timeout: webhookTimeout,
		// Where a redirect leads is not what somebody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	Handle(c, func(ctx context.Context, j *Job[WarningNote]) error {
		return postWarning(ctx, sender, c.cfg.Webhook, j.Args)
	}, Retry(webhookRetry), OnQueue(queue), Timeout(webhookTimeout+5*time.Second))
}

// postWarning sends one note. The receiver may get it more than once, under one
// Idempotency-Key for each episode.
func postWarning(ctx context.Context, sender *http.Client, address string, n WarningNote) error {
	body, err := json.Marshal(n)
	if err != nil {
		return Permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Permanent(errors.New("the webhook's address cannot be used"))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", warningKey(n.Since))
	res, err := sender.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // without the address, which may hold a secret
		}
		return fmt.Errorf("tell the webhook: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	err = fmt.Errorf("the webhook answered %d", res.StatusCode)
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == 408 || code == 409 || code == 425 || code == 429 || code >= 500:
		if s, bad := strconv.Atoi(res.Header.Get("Retry-After")); bad == nil && s > 0 {
			return RetryAfter(err, min(time.Duration(s)*time.Second, webhookRetry.Backoff.limit))
		}
		return err
	default:
		return Permanent(err)
	}
}

func warningKey(since time.Time) string {
	return "tekrar-warning-" + since.UTC().Format(time.RFC3339)
}
