package idempotency

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
)

// PurgeJob is a job that sweeps and purges claims and the record of calls, to be enqueued daily or so. It
// is harmless twice, also at once.
type PurgeJob struct {
	// WindowHours is PurgeOptions.Window in hours; 0 means the default of 30 days.
	WindowHours int  `json:"window_hours,omitempty"`
	DryRun      bool `json:"dry_run,omitempty"` // sweep nothing, purge nothing, count
}

// Kind is claims-purge.
func (PurgeJob) Kind() string { return "claims-purge" }

// RunPurge handles PurgeJob and logs what went and what was kept, and why:
//
//	jobs.Handle(client, claims.RunPurge)
func (c *Claims) RunPurge(ctx context.Context, j *jobs.Job[PurgeJob]) error {
	log := jobs.Logger(ctx)
	report := PurgeReport{DryRun: j.Args.DryRun}
	if !j.Args.DryRun {
		swept, err := c.Sweep(ctx)
		if err != nil {
			return err
		}
		report.MadeUnknown, report.Released = len(swept.Unknown), len(swept.Released)
		log.Info("effect claims swept", "unknown", len(swept.Unknown), "released", len(swept.Released),
			"jobs requeued", len(swept.Requeued), "waiting", swept.Waiting, "stuck", len(swept.Stuck))
	}
	window := cmp.Or(time.Duration(j.Args.WindowHours)*time.Hour, DefaultWindow)
	p, err := c.Purge(ctx, PurgeOptions{Window: window, DryRun: j.Args.DryRun})
	if _, refused := errors.AsType[*InputError](err); refused {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	report.Purged = p
	if !j.Args.DryRun {
		// Calls tell the story of a claim: they are kept as long.
		if report.Calls, err = c.db.ExpireProviderCalls(ctx, window); err != nil {
			return err
		}
	}
	log.Info("effect claims purged", "dry run", j.Args.DryRun, "removed", p.Removed, "kept", Kept(p), "provider calls removed", report.Calls)
	return j.SetResult(report)
}

// PurgeReport is the result of a PurgeJob.
type PurgeReport struct {
	DryRun      bool `json:"dry_run,omitempty"`
	MadeUnknown int  `json:"made_unknown"` // by the sweep
	Released    int  `json:"released"`     // by the sweep
	// Calls to providers that were removed: those as old as the window.
	Calls int64 `json:"calls_removed"`
	Purged
}

// EnqueuePurge enqueues a PurgeJob for a person, whose name goes to the audit with it.
func (c *Claims) EnqueuePurge(ctx context.Context, client *jobs.Client, actor string, p PurgeJob) (id int64, err error) {
	if actor == "" {
		return 0, &InputError{Field: "actor", Problem: "is empty: the audit needs a name"}
	}
	err = c.db.Tx(ctx, func(tx *sqlx.Tx) error {
		e, err := client.EnqueueTx(ctx, tx, p)
		if err != nil {
			return err
		}
		id = e.ID
		return c.db.AuditPurge(ctx, tx, cleanReason(actor), id, p.DryRun)
	})
	if err != nil {
		return 0, fmt.Errorf("enqueue purge: %w", err)
	}
	return id, nil
}

// Kept words what a purge left, by reason.
func Kept(p Purged) string {
	return fmt.Sprintf("%d used within the window, %d unsettled, %d reserved, %d of failed jobs, %d of jobs that wait or run",
		p.Young, p.Unsettled, p.Reserved, p.JobFailed, p.JobLive)
}
