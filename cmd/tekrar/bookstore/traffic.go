package bookstore

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// Traffic enqueues a few jobs a second until ctx ends, so that the screens move by
// themselves. A rate of 0 enqueues nothing. A failure is logged and waited out:
// the demo outlives a restart of its database.
func (w *World) Traffic(ctx context.Context, c *jobs.Client, perSecond float64) {
	if perSecond <= 0 {
		return
	}
	for {
		// Uneven gaps, as customers have.
		gap := time.Duration(rand.ExpFloat64() / perSecond * float64(time.Second))
		if pause(ctx, min(gap, 10*time.Second)) != nil {
			return
		}
		if _, err := c.Enqueue(ctx, w.customer(rand.IntN(1000))); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "background traffic could not enqueue", "error", err)
			if pause(ctx, 5*time.Second) != nil {
				return
			}
		}
	}
}

// customer turns a roll from 0 to 999 into the next job.
func (w *World) customer(roll int) jobs.Args {
	switch {
	case roll < 300:
		return OrderConfirmation{OrderID: 1000 + rand.Int64N(9000)}
	case roll < 310:
		return OrderConfirmation{OrderID: 1000 + rand.Int64N(9000), Refusals: 1}
	case roll < 340:
		return InvoiceImport{InvoiceID: 7100 + rand.Int64N(900)}
	case roll < 355:
		return NightlyReport{Day: time.Now().UTC().Format(time.DateOnly), Seconds: 3 + rand.IntN(6)}
	case roll < 356:
		return InvoiceReconcile{InvoiceID: 7100 + rand.Int64N(900)}
	default:
		return Flaky{Rate: 88, Millis: 50 + rand.IntN(400)}
	}
}
