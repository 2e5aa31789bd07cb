package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

type fetchPrices struct {
	Shop int `json:"shop"`
}

func (fetchPrices) Kind() string { return "fetch-prices" }

// How long the default policy stays with a job that always fails, and how long each
// of its waits can be.
func ExampleRetryPolicy_Window() {
	p := jobs.DefaultRetry()
	shortest, longest := p.Window()
	fmt.Println(p.MaxRetries, "retries within", shortest, "to", longest)
	for _, n := range []int{1, 2, 3, 10} {
		low, high := p.WaitBand(n)
		fmt.Println("retry", n, "after", low, "to", high)
	}
	// Output:
	// 10 retries within 4h18m3s to 4h44m38s
	// retry 1 after 15s to 44s
	// retry 2 after 16s to 1m14s
	// retry 3 after 31s to 1m58s
	// retry 10 after 1h49m36s to 1h54m26s
}

// An error that no retry can cure fails the job at once. Try runs a handler once, as
// the engine would, without a database.
func ExamplePermanent() {
	handler := func(context.Context, *jobs.Job[fetchPrices]) error {
		return jobs.Permanent(errors.New("shop 7 is closed"))
	}
	v, err := jobs.Try(context.Background(), handler, jobs.Job[fetchPrices]{Args: fetchPrices{Shop: 7}}, jobs.DefaultRetry(), 0)
	fmt.Println(v.State, "-", v.Rule, err)
	// Output: failed - permanent error <nil>
}

// A provider that says when to come again sets the wait of the next retry.
func ExampleRetryAfter() {
	handler := func(context.Context, *jobs.Job[fetchPrices]) error {
		return jobs.RetryAfter(errors.New("too many requests"), 90*time.Second)
	}
	policy := jobs.RetryPolicy{MaxRetries: 2, Backoff: jobs.Fixed(time.Second)}
	for attempt := range 3 {
		job := jobs.Job[fetchPrices]{Attempt: attempt + 1, Retry: attempt}
		v, err := jobs.Try(context.Background(), handler, job, policy, 0)
		fmt.Println(v.State, v.Wait, "-", v.Rule, err)
	}
	// Output:
	// scheduled 1m30s - retry 1 of 2, wait set by RetryAfter <nil>
	// scheduled 1m30s - retry 2 of 2, wait set by RetryAfter <nil>
	// failed 0s - retry budget used up (2 of 2) <nil>
}
