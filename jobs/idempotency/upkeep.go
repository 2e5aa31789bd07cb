package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// PurgeJob is a job that sweeps and purges claims, to be enqueued daily or so. It
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
	if !j.Args.DryRun {
		swept, err := c.Sweep(ctx)
		if err != nil {
			return err
		}
		log.Info("effect claims swept", "unknown", len(swept.Unknown), "released", len(swept.Released),
			"jobs requeued", len(swept.Requeued), "waiting", swept.Waiting, "stuck", len(swept.Stuck))
	}
	p, err := c.Purge(ctx, PurgeOptions{Window: time.Duration(j.Args.WindowHours) * time.Hour, DryRun: j.Args.DryRun})
	if _, refused := errors.AsType[*InputError](err); refused {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	log.Info("effect claims purged", "dry run", j.Args.DryRun, "removed", p.Removed, "kept", Kept(p))
	return nil
}

// Kept words what a purge left, by reason.
func Kept(p Purged) string {
	return fmt.Sprintf("%d used within the window, %d unsettled, %d reserved, %d of failed jobs, %d of jobs that wait or run",
		p.Young, p.Unsettled, p.Reserved, p.JobFailed, p.JobLive)
}
