package idempotency_test

import (
	"context"
	"database/sql"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
)

// sender stands for a provider that honours idempotency keys for a day.
type sender interface {
	Send(ctx context.Context, key string, invoice int) (messageID string, err error)
}

// A handler that sends one mail, however often it runs.
func ExampleClaims_Do() {
	handler := func(claims *idempotency.Claims, provider sender) func(context.Context, *jobs.Job[send]) error {
		return func(ctx context.Context, job *jobs.Job[send]) error {
			key := idempotency.NewKey("invoice-email", job.Args.Invoice)
			_, err := claims.Do(ctx, key, func(ctx context.Context, c *idempotency.Claim) (any, error) {
				return provider.Send(ctx, c.ProviderKey(), job.Args.Invoice)
			}, idempotency.OnUnknown(idempotency.Resend), idempotency.KeyLife(24*time.Hour, time.Hour))
			return err
		}
	}
	_ = handler
}

// A handler that books in the same database: truly once.
func ExampleClaims_DoTx() {
	handler := func(claims *idempotency.Claims, db *sql.DB) func(context.Context, *jobs.Job[send]) error {
		return func(ctx context.Context, job *jobs.Job[send]) error {
			tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
			if err != nil {
				return err
			}
			defer tx.Rollback()
			key := idempotency.NewKey("stock-movement", job.Args.Invoice)
			_, err = claims.DoTx(ctx, tx, key, func(ctx context.Context, _ *idempotency.Claim) (any, error) {
				_, err := tx.ExecContext(ctx, `insert into movements (invoice, change) values ($1, -1)`, job.Args.Invoice)
				return nil, err
			})
			if err != nil {
				return err
			}
			return tx.Commit()
		}
	}
	_ = handler
}

// A web request that a visitor may send twice enqueues one job.
func ExampleClaims_Reserve() {
	order := func(ctx context.Context, claims *idempotency.Claims, client *jobs.Client, tx *sql.Tx, invoice int) error {
		r, err := claims.Reserve(ctx, tx, idempotency.NewKey("invoice-email", invoice))
		if err != nil || !r.Fresh {
			return err
		}
		_, err = client.EnqueueTx(ctx, tx, send{Invoice: invoice})
		return err
	}
	_ = order
}
