package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

type greet struct {
	Name string `json:"name"`
}

func (greet) Kind() string { return "greet" }

func TestJobRunsAndEveryChangeIsKept(t *testing.T) {
	t.Parallel()
	got := make(chan *jobs.Job[greet], 1)
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error { got <- j; return nil })
	})
	placed, err := r.Enqueue(context.Background(), greet{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	j := <-got
	if j.ID != placed.ID || j.Args.Name != "Ada" || j.Attempt != 1 || j.Retry != 0 || j.MaxRetries != 10 {
		t.Errorf("handler saw %+v", j)
	}
	d := r.waitFor(placed.ID, store.Succeeded)
	if diff := cmp.Diff([]string{"enqueued", "processing", "succeeded"}, told(d)); diff != "" {
		t.Error(diff)
	}
}

// The article's first listing: two failures, two waits, then success.
func TestHistoryOfRetriedJob(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error {
			if j.Attempt < 3 {
				return errors.New("Supplier API did not respond in 10 s")
			}
			return nil
		}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second}}))
	})
	placed, err := r.Enqueue(context.Background(), greet{})
	if err != nil {
		t.Fatal(err)
	}
	d := r.waitFor(placed.ID, store.Succeeded)
	want := []string{
		"enqueued", "processing",
		"failed: An error occurred during attempt 1",
		"scheduled: Retry attempt 1 of 3: Supplier API did not respond in 10 s",
		"enqueued: Triggered by scheduler", "processing",
		"failed: An error occurred during attempt 2",
		"scheduled: Retry attempt 2 of 3: Supplier API did not respond in 10 s",
		"enqueued: Triggered by scheduler", "processing", "succeeded",
	}
	if diff := cmp.Diff(want, told(d)); diff != "" {
		t.Error(diff)
	}
	for i, h := range d.History { // newest first: [i] follows [i+1]
		if h.Reason == "Triggered by scheduler" {
			wait := map[int]time.Duration{1: 200 * time.Millisecond, 2: 500 * time.Millisecond}[d.History[i+1].Attempt]
			if got := h.At.Sub(d.History[i+1].At); got < wait {
				t.Errorf("retry after attempt %d came early: after %v of %v", d.History[i+1].Attempt, got, wait)
			}
		}
	}
}

// The article's second listing: a permanent error goes straight to failed.
func TestHistoryOfPermanentFailure(t *testing.T) {
	t.Parallel()
	closed := errors.New("the invoice's period is closed")
	r := start(t, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, func(context.Context, *jobs.Job[greet]) error { return closed },
			jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, ExceptOn: []jobs.Matcher{jobs.Is(closed)}}))
	})
	placed, err := r.Enqueue(context.Background(), greet{})
	if err != nil {
		t.Fatal(err)
	}
	d := r.waitFor(placed.ID, store.Failed)
	if diff := cmp.Diff([]string{"enqueued", "processing", "failed: An error occurred during attempt 1"}, told(d)); diff != "" {
		t.Error(diff)
	}
}
