package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// allMoved is what the flags say of a change of all jobs that a filter holds.
type allMoved struct {
	jobsListed
	all, yes bool
}

func moveAll(fs *flag.FlagSet) *allMoved {
	var a allMoved
	fs.BoolVar(&a.all, "all", false, "all jobs of the filter, instead of IDs; without a filter all that failed")
	fs.BoolVar(&a.yes, "yes", false, "do not ask")
	a.filters(fs)
	return &a
}

// asked says whether a filter names the jobs; else the arguments do.
func (a *allMoved) asked(ids []string) (bool, error) {
	switch {
	case a.all && len(ids) > 0:
		return false, usagef("--all takes a filter and no IDs, but there is %q", ids[0])
	case !a.all && a.given():
		return false, usagef("--state, --queue, --kind and --query go with --all")
	case !a.all && len(ids) == 0:
		return false, usagef("which jobs? Give their IDs, or --all with a filter")
	}
	return a.all, nil
}

const bulkLook = 100 * time.Millisecond

// moveAll runs a bulk operation as the dashboard does, and follows it to its end. An
// interrupt stops it; what it did by then stays.
func (p *program) moveAll(ctx context.Context, c config, a *allMoved, b jobs.Bulk, asJSON bool) error {
	f, err := a.filter(c)
	if err != nil {
		return err
	}
	return p.withClient(ctx, c, func(client *jobs.Client) error {
		db := client.DB()
		if !a.stated {
			if f, _, err = db.Aim(ctx, f); err != nil {
				return err
			}
		}
		switch {
		case b.Action == "requeue" && (f.State == store.Enqueued || f.State == store.Processing):
			return usagef("the state is %s: such jobs run anyway and cannot be requeued", f.State)
		case b.Action == "delete" && f.State == store.Deleted:
			return usagef("the state is %s already", f.State)
		}
		b.Filter = f
		if b.SeenAt, err = db.Clock(ctx); err != nil {
			return err
		}
		stop := p.quietly(asJSON)("counting jobs", 0, nil)
		n, err := db.CountWithin(ctx, f, b.SeenAt, time.Minute)
		stop()
		if err != nil {
			return err
		}
		if b.Expected = n.N; n.N == 0 {
			return p.movedAll(store.Bulk{State: store.BulkDone, Action: b.Action}, asJSON)
		}
		atLeast := map[bool]string{true: "at least "}[n.AtLeast]
		if err := p.confirm(ctx, a.yes, "This is to %s %s%d %s jobs.", b.Action, atLeast, n.N, f.State); err != nil {
			return err
		}
		id, err := client.StartBulk(ctx, actor(), b)
		if err != nil {
			return err
		}
		done, err := p.follow(ctx, client, id, b, asJSON)
		if err != nil {
			return fmt.Errorf("bulk operation %d, which goes on where an engine runs: %w", id, err)
		}
		return p.movedAll(done, asJSON)
	})
}

// follow waits until the operation has ended. An interrupt asks it to stop, and its end
// is still waited for.
func (p *program) follow(ctx context.Context, client *jobs.Client, id int64, b jobs.Bulk, asJSON bool) (now store.Bulk, err error) {
	var done atomic.Int64
	stop := p.quietly(asJSON)(b.Action+" jobs", b.Expected, done.Load)
	defer stop()
	interrupted, ctx := ctx.Done(), context.WithoutCancel(ctx)
	for {
		if now, err = client.DB().Bulk(ctx, id); err != nil {
			return now, err
		}
		done.Store(now.Done + now.Skipped)
		if now.State != store.BulkRunning {
			return now, nil
		}
		select {
		case <-interrupted:
			interrupted = nil
			if err := client.StopBulk(ctx, actor(), id); err != nil && !errors.Is(err, store.ErrStateChanged) {
				return now, err
			}
		case <-time.After(bulkLook):
		}
	}
}

// movedAll reports the whole; an operation that was stopped or given up, or that left
// jobs out because somebody else moved them first, makes the exit code 1.
func (p *program) movedAll(b store.Bulk, asJSON bool) error {
	state := map[store.BulkState]string{store.BulkDone: "done", store.BulkStopped: "stopped", store.BulkFailed: "failed"}[b.State]
	if asJSON {
		err := writeJSON(p.stdout, struct {
			Operation string `json:"operation,omitempty"`
			Action    string `json:"action"`
			State     string `json:"state"`
			Jobs      int64  `json:"jobs"`
			Skipped   int64  `json:"skipped"`
		}{operationName(b.ID), b.Action, state, b.Done, b.Skipped})
		if err != nil {
			return err
		}
	} else {
		fmt.Fprintf(p.stdout, "%s: %d jobs\n", b.Action, b.Done)
	}
	switch {
	case b.State == store.BulkFailed:
		return fmt.Errorf("given up: %s", b.Error)
	case b.State == store.BulkStopped:
		return fmt.Errorf("stopped by %s; what was done stays done", b.StoppedBy)
	case b.Skipped > 0:
		return fmt.Errorf("%d jobs were moved by somebody else first and stay as they are", b.Skipped)
	}
	return nil
}

// operationName is as the dashboard's address has it; none was begun without a job.
func operationName(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}
