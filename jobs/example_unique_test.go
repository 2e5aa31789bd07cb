package jobs_test

import (
	"context"
	"log"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

type reindex struct {
	Shop int `json:"shop"`
}

func (reindex) Kind() string { return "reindex" }

// A shop is indexed by one job at a time, at most two shops at once on all servers,
// and a second press enqueues nothing.
func ExampleUniqueArgs() {
	db, err := jobs.Open("postgres://localhost/app?sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	client, err := jobs.New(db, jobs.Config{QueueLimits: map[string]int{"search": 4}})
	if err != nil {
		log.Fatal(err)
	}
	jobs.Handle(client, func(context.Context, *jobs.Job[reindex]) error { return nil },
		jobs.OnQueue("search"), jobs.AtMost(2), jobs.Timeout(time.Minute))
	ctx := context.Background()
	job, err := client.Enqueue(ctx, reindex{Shop: 7}, jobs.UniqueArgs(jobs.UntilFinished), jobs.Priority(2))
	if err != nil {
		log.Fatal(err)
	}
	if job.Duplicate {
		log.Printf("shop 7 is being indexed by job %d, which is %v", job.ID, job.State)
	}
}
