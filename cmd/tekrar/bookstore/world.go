// Package bookstore is the demo's world: a bookshop that imports its suppliers'
// invoices, confirms orders and writes reports, with services around it that fail
// in known ways. Every kind is a real job; only the outside services are made up.
package bookstore

import (
	"context"
	"log/slog"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/jobs/idempotency/outbound"
)

// World is one bookshop with its suppliers. It keeps what it knows in memory: a
// restarted program starts with empty ledgers, the jobs themselves are in Postgres.
type World struct {
	importDelays []time.Duration
	supplier     *Supplier
	ledger       *Ledger
	log          *slog.Logger
}

// Config changes what a demo does not need to change; the zero value is the demo.
type Config struct {
	ImportDelays []time.Duration // waits between import attempts; default 2, 5, 10 s
	SupplierWait time.Duration   // real time that a silent supplier takes; default 400 ms, negative none
	Logger       *slog.Logger    // default slog.Default()
}

// New makes a bookshop.
func New(c Config) *World {
	if len(c.ImportDelays) == 0 {
		c.ImportDelays = []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second}
	}
	if c.SupplierWait == 0 {
		c.SupplierWait = 400 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &World{
		importDelays: c.ImportDelays,
		supplier:     NewSupplier(c.SupplierWait),
		ledger:       NewLedger(),
		log:          c.Logger,
	}
}

// Register makes the client run every kind of the bookshop.
func (w *World) Register(c *jobs.Client) {
	jobs.Handle(c, w.importInvoice, jobs.Retry(jobs.RetryPolicy{
		MaxRetries: 3,
		Delays:     w.importDelays,
	}))
	jobs.Handle(c, w.reconcileInvoice, jobs.Retry(jobs.RetryPolicy{
		MaxRetries: 3,
		Delays:     w.importDelays,
		ExceptOn:   []jobs.Matcher{jobs.As[*ClosedPeriod]()},
	}))
	jobs.Handle(c, w.confirmOrder, jobs.Retry(jobs.RetryPolicy{
		MaxRetries: 3,
		Delays:     []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute},
	}), jobs.Timeout(time.Minute), outbound.Horizon(idempotency.Warn, outbound.ShortMail()))
	jobs.Handle(c, w.writeReport, jobs.Timeout(2*time.Minute))
	w.declare(c)
	jobs.Handle(c, w.flake, jobs.Retry(jobs.RetryPolicy{
		MaxRetries: 3,
		Delays:     []time.Duration{time.Second, 3 * time.Second, 6 * time.Second},
		ExceptOn:   []jobs.Matcher{jobs.Is(ErrSoldOut)},
	}))
}

// pause waits for d, or until ctx ends, and then says why.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
