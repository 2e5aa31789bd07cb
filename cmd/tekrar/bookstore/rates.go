package bookstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// ExchangeRatesImport fetches the day's exchange rates. The bank's service turns
// its first callers away, so each fire fails twice and then imports 34 rates.
type ExchangeRatesImport struct {
	Base string `json:"base"` // currency, such as EUR
}

// Kind names the job.
func (ExchangeRatesImport) Kind() string { return "exchange-rates-import" }

// rateCount is how many currencies the bank quotes.
const rateCount = 34

var errBank = errors.New("exchange rate service said 503: try again later")

func (w *World) importRates(ctx context.Context, job *jobs.Job[ExchangeRatesImport]) error {
	job.Log("asking for the rates of %s", job.Args.Base)
	if err := pause(ctx, 150*time.Millisecond); err != nil {
		return err
	}
	if job.Retry < 2 {
		return errBank
	}
	for i := range int64(rateCount) {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		job.Progress(i+1, rateCount, "rates imported")
	}
	return job.SetResult(map[string]any{"rates": rateCount, "for": job.FireAt.UTC().Format(time.RFC3339)})
}

// declare makes the bookshop's recurring jobs.
func (w *World) declare(c *jobs.Client) {
	jobs.Handle(c, w.importRates, jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Backoff: jobs.Exponential(2*time.Second, 2, 0, 0)}))
	c.Recurring("exchange-rates", "*/5 * * * *", ExchangeRatesImport{Base: "EUR"},
		jobs.RecurringRetry(jobs.RetryPolicy{MaxRetries: 3, Backoff: jobs.Exponential(2*time.Second, 2, 0, 0)}))
	c.Recurring("nightly-report", "0 2 * * *", NightlyReport{Seconds: 5}, jobs.Zone("Europe/Istanbul"))
}

// reportDay is the day that a report is about: the given one, else the day before
// the fire that made the job.
func reportDay(job *jobs.Job[NightlyReport]) (string, error) {
	if job.Args.Day == "" && !job.FireAt.IsZero() {
		return job.FireAt.AddDate(0, 0, -1).Format(time.DateOnly), nil
	}
	if _, err := time.Parse(time.DateOnly, job.Args.Day); err != nil {
		return "", jobs.Permanent(fmt.Errorf("day %q is no date like 2026-01-31", job.Args.Day))
	}
	return job.Args.Day, nil
}
