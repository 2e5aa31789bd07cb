package bookstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// OrderConfirmation tells a customer that the order arrived. Its retries are
// minutes apart, since a mail server that is down stays down for a while; this one
// forgets idempotency keys after five minutes, which the kind is warned of.
type OrderConfirmation struct {
	OrderID  int64 `json:"order_id"`
	Refusals int   `json:"refusals,omitempty"` // how many attempts the mail server turns down first
}

// Kind names the job.
func (OrderConfirmation) Kind() string { return "order-confirmation" }

var errMailServer = errors.New("mail server said 451: try again later")

func (w *World) confirmOrder(ctx context.Context, job *jobs.Job[OrderConfirmation]) error {
	if err := pause(ctx, 80*time.Millisecond); err != nil {
		return err
	}
	if job.Attempt <= job.Args.Refusals {
		return errMailServer
	}
	return nil
}

// NightlyReport adds up the day, shop by shop. It stops between two shops when it
// is asked to, and starts over at the next attempt.
type NightlyReport struct {
	Day     string `json:"day,omitempty"` // as 2006-01-02; empty: the day before the fire
	Seconds int    `json:"seconds"`       // how long it takes, 0 to 60
}

// Kind names the job.
func (NightlyReport) Kind() string { return "nightly-report" }

func (w *World) writeReport(ctx context.Context, job *jobs.Job[NightlyReport]) error {
	day, err := reportDay(job)
	if err != nil {
		return err
	}
	if job.Args.Seconds < 0 || job.Args.Seconds > 60 {
		return jobs.Permanent(fmt.Errorf("seconds is %d, must be 0 to 60", job.Args.Seconds))
	}
	const shops = 20
	for i := range int64(shops) {
		job.Progress(i, shops, "shops of "+day)
		if err := pause(ctx, time.Duration(job.Args.Seconds)*time.Second/shops); err != nil {
			return err
		}
	}
	job.Progress(shops, shops, "shops of "+day)
	return nil
}
