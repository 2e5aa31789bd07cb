package bench

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// aged: a drain in tables that hold many finished, scheduled and failed jobs, how much
// of the rate in nearly empty tables that is, what is left of it while a fifth of the finished
// ones expires and how many go a second, and what the dashboard's queries take there.
func (b *bench) aged(ctx context.Context, db *store.DB) error {
	empty, err := b.drainSome(ctx, db)
	if err != nil {
		return err
	}
	if err := b.age(ctx, db); err != nil {
		return err
	}
	rate, err := b.drainSome(ctx, db)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "aged", Figure: "rate", Value: rate, Unit: "jobs/s"})
	b.print(Figure{Bench: "aged", Figure: "of_the_rate_when_empty", Value: rate / empty, Unit: "ratio"})
	still := b.Working.on("measuring the dashboard's queries and pages", 0, nil)
	defer func() { still() }()
	slowest, err := slowestQuery(ctx, db)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "aged", Figure: "slowest_dashboard_query_p95", Value: slowest, Unit: "ms"})
	c, err := b.client(db, 1)
	if err != nil {
		return err
	}
	if slowest, err = slowestPage(c); err != nil {
		return err
	}
	b.print(Figure{Bench: "aged", Figure: "slowest_page_p95", Value: slowest, Unit: "ms"})
	still()
	began := time.Now()
	expiring, expired, err := b.drainWhileExpiring(ctx, db)
	if err != nil {
		return err
	}
	b.print(Figure{Bench: "aged", Figure: "expired", Value: float64(expired), Unit: "jobs"})
	b.print(Figure{Bench: "aged", Figure: "expired_meanwhile", Value: float64(expired) / time.Since(began).Seconds(), Unit: "jobs/s"})
	b.print(Figure{Bench: "aged", Figure: "of_the_rate_without_retention", Value: expiring / rate, Unit: "ratio"})
	return nil
}

// drainSome is the rate of five drains: single ones differ by a fifth and more.
func (b *bench) drainSome(ctx context.Context, db *store.DB) (rate float64, err error) {
	const times = 5
	var seconds float64
	for range times {
		one, err := b.drainOnce(ctx, db, b.Workers)
		if err != nil {
			return 0, err
		}
		seconds += float64(b.Jobs) / one
	}
	return float64(times*b.Jobs) / seconds, nil
}

// age fills the tables with jobs of the last month.
func (b *bench) age(ctx context.Context, db *store.DB) error {
	defer b.Working.on("filling the tables with finished jobs", 0, nil)()
	return db.Age(ctx, store.Old{Finished: b.Aged, Scheduled: b.Aged * 6 / 100, Failed: b.Aged * 4 / 100})
}

// drainWhileExpiring drains again and again until the oldest fifth of the finished
// jobs has expired, and returns the rate of the drains that ended before.
func (b *bench) drainWhileExpiring(ctx context.Context, db *store.DB) (rate float64, expired int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		var err error
		expired, err = db.Expire(ctx, jobs.Succeeded, 24*24*time.Hour)
		ended <- err
	}()
	var seconds float64
	for n := 0; ; n++ {
		one, err := b.drainOnce(ctx, db, b.Workers)
		if err != nil {
			return 0, 0, err
		}
		select {
		case err := <-ended:
			if n == 0 {
				return one, expired, err
			}
			return float64(n*b.Jobs) / seconds, expired, err
		default:
			seconds += float64(b.Jobs) / one
		}
	}
}

// slowestQuery is the highest 95th percentile of what the pages ask, in ms.
func slowestQuery(ctx context.Context, db *store.DB) (float64, error) {
	const times = 20
	// A page's worth and how many there are.
	jobsOf := func(f store.JobFilter) func() error {
		return func() error {
			_, _, err := db.Jobs(ctx, f)
			if err == nil {
				_, err = db.CountJobs(ctx, f)
			}
			return err
		}
	}
	var worst float64
	for _, ask := range []func() error{
		func() error { _, err := db.Counts(ctx); return err },
		func() error { _, _, err := db.Retrying(ctx); return err },
		func() error { _, err := db.Pending(ctx); return err },
		jobsOf(store.JobFilter{State: jobs.Scheduled, Cause: store.CauseRetry}),
		jobsOf(store.JobFilter{State: jobs.Scheduled, Kind: "rare"}),
		jobsOf(store.JobFilter{State: jobs.Scheduled, Queue: "rare"}),
		jobsOf(store.JobFilter{State: jobs.Failed, Kind: "rare"}),
		jobsOf(store.JobFilter{State: jobs.Failed, Queue: "rare"}),
		jobsOf(store.JobFilter{State: jobs.Failed, Queue: "default"}),
		func() error {
			_, _, err := db.Jobs(ctx, store.JobFilter{State: jobs.Succeeded, Limit: 50})
			return err
		},
		func() error {
			_, _, err := db.Jobs(ctx, store.JobFilter{State: jobs.Succeeded, Kind: "aged-3", Limit: 50})
			return err
		},
		func() error {
			_, err := db.Attempts(ctx, 6*time.Hour, 5*time.Minute, store.AttemptFilter{})
			return err
		},
		func() error {
			_, err := db.Attempts(ctx, 30*24*time.Hour, 8*time.Hour, store.AttemptFilter{})
			return err
		},
		func() error { _, err := db.Queues(ctx); return err },
		func() error { _, err := db.FailureGroups(ctx, false, 50); return err },
		func() error { _, err := db.MutedFailures(ctx); return err },
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
		worst = max(worst, quantile(took, .95))
	}
	return worst, nil
}
