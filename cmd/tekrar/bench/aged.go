package bench

import (
	"context"
	"slices"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// aged: a drain in tables that hold many finished jobs, how much of the rate in
// empty tables that is, and what the dashboard's queries take there.
func (b *bench) aged(ctx context.Context, db *store.DB) error {
	empty, err := b.drainOnce(ctx, db, b.Workers)
	if err != nil {
		return err
	}
	if err := db.Age(ctx, b.Aged); err != nil {
		return err
	}
	rate, err := b.drainOnce(ctx, db, b.Workers)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "aged", Figure: "rate", Value: rate, Unit: "jobs/s"})
	b.print(Figure{Bench: "aged", Figure: "of_the_rate_when_empty", Value: rate / empty, Unit: "ratio"})
	slowest, err := slowestQuery(ctx, db)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "aged", Figure: "slowest_dashboard_query_p95", Value: slowest, Unit: "ms"})
	return nil
}

// slowestQuery is the highest 95th percentile of what the pages ask, in ms.
func slowestQuery(ctx context.Context, db *store.DB) (float64, error) {
	const times = 20
	var worst time.Duration
	for _, ask := range []func() error{
		func() error { _, err := db.Counts(ctx); return err },
		func() error { _, _, err := db.Retrying(ctx); return err },
		func() error { _, err := db.OldestReady(ctx); return err },
		func() error {
			_, _, err := db.Jobs(ctx, store.JobFilter{State: jobs.Succeeded, Limit: 50})
			return err
		},
		func() error {
			_, _, err := db.Jobs(ctx, store.JobFilter{State: jobs.Succeeded, Kind: "aged-3", Limit: 50})
			return err
		},
		func() error { _, err := db.Attempts(ctx, 6*time.Hour, 5*time.Minute, "", ""); return err },
		func() error { _, err := db.Attempts(ctx, 30*24*time.Hour, 8*time.Hour, "", ""); return err },
		func() error { _, err := db.Queues(ctx); return err },
		func() error { _, err := db.Servers(ctx); return err },
		func() error { _, err := db.Job(ctx, 1, 50, 0); return err },
	} {
		var took []time.Duration
		for range times {
			began := time.Now()
			if err := ask(); err != nil {
				return 0, err
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		worst = max(worst, took[times*95/100])
	}
	return float64(worst.Microseconds()) / 1000, nil
}
