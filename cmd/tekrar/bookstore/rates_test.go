package bookstore

import (
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/jobstest"
)

// Each fire of the exchange rates fails twice, with waits of 2 and 4 s, and then
// imports 34 rates.
func TestExchangeRatesFailTwiceThenImport(t *testing.T) {
	t.Parallel()
	w := New(Config{})
	policy := jobstest.Policy(jobs.RetryPolicy{MaxRetries: 3, Backoff: jobs.Exponential(2*time.Second, 2, 0, 0)})
	for n, wait := range []time.Duration{2 * time.Second, 4 * time.Second} {
		v := jobstest.Run(t, w.importRates, ExchangeRatesImport{Base: "EUR"}, policy, jobstest.Attempt(n+1))
		if v.State != jobs.Scheduled || v.Wait != wait {
			t.Errorf("attempt %d: %+v", n+1, v)
		}
	}
	v := jobstest.Run(t, w.importRates, ExchangeRatesImport{Base: "EUR"}, policy, jobstest.Attempt(3))
	if v.State != jobs.Succeeded || v.Result != `{"result":{"for":"0001-01-01T00:00:00Z","rates":34}}` {
		t.Errorf("attempt 3: %+v", v)
	}
}

func TestNightlyReportIsAboutTheDayBeforeItsFire(t *testing.T) {
	t.Parallel()
	job := &jobs.Job[NightlyReport]{FireAt: time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)}
	if day, err := reportDay(job); err != nil || day != "2026-02-28" {
		t.Errorf("%q, %v", day, err)
	}
	if _, err := reportDay(&jobs.Job[NightlyReport]{}); err == nil {
		t.Error("a report about no day is accepted")
	}
}
