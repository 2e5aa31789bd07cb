package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

func jobsRequeue(fs *flag.FlagSet) action {
	fresh := fs.Bool("fresh", false, "with a fresh budget of retries; without it a next failure is final")
	asJSON := fs.Bool("json", false, "one JSON array; with --all one JSON object")
	all := moveAll(fs)
	return func(ctx context.Context, p *program, c config, args []string) error {
		budget := jobs.KeepRetries
		if *fresh {
			budget = jobs.FreshBudget
		}
		whole, err := all.asked(args)
		if err != nil {
			return err
		}
		if whole {
			return p.moveAll(ctx, c, all, jobs.Bulk{Action: "requeue", Budget: budget}, *asJSON)
		}
		return p.move(ctx, c, args, *asJSON, func(client *jobs.Client, targets []jobs.Target) ([]jobs.Moved, error) {
			return client.Requeue(ctx, actor(), budget, targets...)
		})
	}
}

func jobsDelete(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON array; with --all one JSON object")
	all := moveAll(fs)
	return func(ctx context.Context, p *program, c config, args []string) error {
		whole, err := all.asked(args)
		if err != nil {
			return err
		}
		if whole {
			return p.moveAll(ctx, c, all, jobs.Bulk{Action: "delete"}, *asJSON)
		}
		if err := p.confirm(ctx, all.yes, "%d jobs will be deleted: %s.", len(args), strings.Join(args, ", ")); err != nil {
			return err
		}
		return p.move(ctx, c, args, *asJSON, func(client *jobs.Client, targets []jobs.Target) ([]jobs.Moved, error) {
			return client.Delete(ctx, actor(), targets...)
		})
	}
}

func jobsCancel(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON array")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.move(ctx, c, args, *asJSON, func(client *jobs.Client, targets []jobs.Target) ([]jobs.Moved, error) {
			return client.Cancel(ctx, actor(), targets...)
		})
	}
}

func (p *program) move(ctx context.Context, c config, args []string, asJSON bool,
	do func(*jobs.Client, []jobs.Target) ([]jobs.Moved, error)) error {
	var ids []int64
	for _, a := range args {
		id, err := jobID(a)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return p.withClient(ctx, c, func(client *jobs.Client) error {
		targets, err := expect(ctx, client.DB(), ids)
		if err != nil {
			return err
		}
		var done atomic.Int64
		stop := p.quietly(asJSON)("changing jobs", int64(len(targets)), done.Load)
		defer stop()
		var moved []jobs.Moved
		for some := range slices.Chunk(targets, movedAtOnce) {
			part, err := do(client, some)
			if err != nil {
				stop()
				return errors.Join(p.movedBefore(moved, asJSON), err)
			}
			moved = append(moved, part...)
			done.Store(int64(len(moved)))
		}
		stop()
		return p.moved(moved, asJSON)
	})
}

// movedAtOnce bounds how long one transaction holds the rows of many jobs.
const movedAtOnce = 500

// movedBefore reports the jobs that were changed before it failed, if there are any.
func (p *program) movedBefore(moved []jobs.Moved, asJSON bool) error {
	if len(moved) == 0 {
		return nil
	}
	return p.moved(moved, asJSON)
}

// expect reads the state each job is in now, which the move then relies on. An
// unknown id keeps the zero state and is refused by the move itself.
func expect(ctx context.Context, db *store.DB, ids []int64) ([]jobs.Target, error) {
	rows, err := db.JobRows(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	states := map[int64]store.State{}
	for _, r := range rows {
		states[r.ID] = r.State
	}
	var targets []jobs.Target
	for _, id := range ids {
		targets = append(targets, jobs.Target{ID: id, Expected: states[id]})
	}
	return targets, nil
}

// moved reports each job; a refused one makes the exit code 1.
func (p *program) moved(moved []jobs.Moved, asJSON bool) error {
	type result struct {
		ID    string `json:"id"`
		State string `json:"state,omitempty"`
		Error string `json:"error,omitempty"`
	}
	results := []result{}
	refused := 0
	for _, m := range moved {
		r := result{ID: fmt.Sprint(m.ID)}
		if m.Now != 0 {
			r.State = m.Now.String()
		}
		switch {
		case errors.Is(m.Err, store.ErrNotFound):
			r.Error = "not found"
		case errors.Is(m.Err, store.ErrStateChanged):
			r.Error = "not possible in this state"
		case m.Err != nil:
			r.Error = m.Err.Error()
		}
		if r.Error != "" {
			refused++
		}
		results = append(results, r)
		if !asJSON {
			fmt.Fprintf(p.stdout, "job %s: %s\n", r.ID, plain(describeMove(r.State, r.Error)))
		}
	}
	if asJSON {
		if err := writeJSON(p.stdout, results); err != nil {
			return err
		}
	}
	if refused > 0 {
		return fmt.Errorf("%d of %d jobs were not changed", refused, len(moved))
	}
	return nil
}

func describeMove(state, problem string) string {
	switch {
	case problem == "" && state == store.Processing.String(): // only a cancel leaves it there
		return "asked to end"
	case problem == "":
		return "now " + state
	case state == "":
		return problem
	}
	return problem + " (" + state + ")"
}
