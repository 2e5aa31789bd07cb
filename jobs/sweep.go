package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/tekrar/tekrar/store"
)

// sweep looks for servers whose lease has ended and takes their jobs over. Any
// server does it, at jittered times; it holds no lasting lock, so that a sweeper
// that dies keeps nobody.
func (e *engine) sweep(ctx context.Context) {
	trouble := &incident{log: e.log, what: "sweep for lost servers"}
	for sleep(ctx, jitter(e.cfg.Sweep), nil) {
		if e.unattended() {
			continue
		}
		r, err := e.db.Reclaim(ctx, e.server.Load(), e.cfg.LossLimit)
		if err != nil {
			if !e.outlast(ctx, trouble, err) {
				return
			}
			continue
		}
		if err := e.removeUndeclared(ctx); err != nil && ctx.Err() == nil {
			e.log.Debug("recurring jobs that nobody declares not removed", "err", err)
		}
		if err := e.db.FoldCounts(ctx); err != nil && ctx.Err() == nil {
			e.log.Debug("counts of jobs not folded", "err", err)
		}
		trouble.ok()
		if len(r.Servers) > 0 {
			e.log.Warn("servers lost", "servers", r.Servers)
		}
		if len(r.IDs) > 0 {
			e.log.Warn("jobs of lost servers taken over", "jobs", len(r.IDs))
			e.c.changes.add(r.IDs...)
			e.continuer.after(r.IDs...)
			e.claimer.wake()
			e.c.waking.now(r.Queues...)
		}
	}
}

// outlast waits until the database takes writes again, and for one lease more: after a
// long outage all leases have ended, and a server that is well has to get the time
// to renew its own before another takes its jobs.
func (e *engine) outlast(ctx context.Context, trouble *incident, err error) bool {
	for err != nil {
		if ctx.Err() != nil || !sleep(ctx, trouble.failed(err), nil) {
			return false
		}
		err = e.writable(ctx)
	}
	return sleep(ctx, e.cfg.Lease, nil)
}

var errReadOnly = errors.New("the database takes no writes")

func (e *engine) writable(ctx context.Context) error {
	if yes, err := e.db.ReadOnly(ctx); err != nil || !yes {
		return err
	}
	return errReadOnly
}

const (
	tidyEvery   = time.Minute
	statsKept   = 48 * time.Hour // as minutes; then as hours
	serversKept = 30 * 24 * time.Hour
	firesKept   = 7 * 24 * time.Hour // and at least 20 of each recurring job
)

// janitor removes what retention ends and folds old statistics.
func (e *engine) janitor(ctx context.Context) {
	trouble := &incident{log: e.log, what: "retention"}
	for sleep(ctx, jitter(tidyEvery), nil) {
		if err := e.tidy(ctx); err != nil {
			if ctx.Err() != nil || !sleep(ctx, trouble.failed(err), nil) {
				return
			}
			continue
		}
		trouble.ok()
	}
}

func (e *engine) tidy(ctx context.Context) error {
	for _, r := range []struct {
		state store.State
		keep  time.Duration
	}{{store.Succeeded, e.cfg.Retention.Succeeded}, {store.Deleted, e.cfg.Retention.Deleted}} {
		n, err := e.db.Expire(ctx, r.state, r.keep)
		if n > 0 {
			e.log.Info("finished jobs removed by retention", "state", r.state, "jobs", n)
		}
		if err != nil {
			return err
		}
	}
	if err := e.db.FoldStats(ctx, statsKept); err != nil {
		return err
	}
	if _, err := e.db.ReleaseKeys(ctx); err != nil {
		return err
	}
	if _, err := e.db.PruneFires(ctx, firesKept); err != nil {
		return err
	}
	if err := e.c.resumeBulks(ctx); err != nil {
		return err
	}
	return e.db.PruneServers(ctx, serversKept)
}
