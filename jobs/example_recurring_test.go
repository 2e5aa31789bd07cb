package jobs_test

import (
	"context"
	"log"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
)

type importRates struct{}

func (importRates) Kind() string { return "import-exchange-rates" }

// A recurring job: however many servers run this, each fire becomes one job. Its
// handler sees the due time, and a retry that would reach the next fire is dropped.
func ExampleClient_Recurring() {
	db, err := jobs.Open("postgres://localhost/app?sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	client, err := jobs.New(db, jobs.Config{})
	if err != nil {
		log.Fatal(err)
	}
	jobs.Handle(client, func(ctx context.Context, job *jobs.Job[importRates]) error {
		log.Printf("rates of %s, attempt %d", job.FireAt.Format(time.DateTime), job.Attempt)
		return nil
	})
	client.Recurring("exchange-rates", "*/5 8-18 * * mon-fri", importRates{},
		jobs.Zone("Europe/Istanbul"),
		jobs.MisfireRule(schedule.RunOnce),
		jobs.OverlapRule(jobs.OverlapSkip),
		jobs.RecurringRetry(jobs.RetryPolicy{MaxRetries: 3, Backoff: jobs.Exponential(2*time.Second, 2, time.Minute, 0)}))
	if err := client.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
