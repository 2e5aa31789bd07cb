package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

func recurringShow(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withClient(ctx, c, func(client *jobs.Client) error {
			r, err := client.DB().RecurringOne(ctx, args[0])
			if err != nil {
				return recurringError(args[0], err)
			}
			if *asJSON {
				return writeJSON(p.stdout, newRecurringJSON(r, c))
			}
			said, _, err := client.PreviewRecurring(r.Spec, r.Zone, r.StartAt, r.EndAt, 0)
			words := said.Words()
			if err != nil {
				words = "cannot be read: " + err.Error()
			}
			return p.showRecurring(r, words, c)
		})
	}
}

func (p *program) showRecurring(r store.RecurringRow, words string, c config) error {
	declared := "the dashboard or the API"
	if r.Declared {
		declared = "code"
	}
	paused := ""
	if r.PausedAt != nil {
		paused = stamp(*r.PausedAt) + " by " + r.PausedBy
	}
	err := p.sheet([2]string{"recurring", r.ID}, [2]string{"state", recurringState(r)}, [2]string{"schedule", r.Spec + " (" + words + ")"},
		[2]string{"zone", r.Zone}, [2]string{"next fire", stampOf(r.NextRun)}, [2]string{"last fire", stampOf(r.LastFire)},
		[2]string{"from", stampOf(r.StartAt)}, [2]string{"until", stampOf(r.EndAt)}, [2]string{"paused", paused},
		[2]string{"kind", r.Kind}, [2]string{"queue", r.Queue}, [2]string{"missed fires", r.Misfire}, [2]string{"overlap", r.Overlap},
		[2]string{"args", compact(c.redact.JSON(r.Args))}, [2]string{"set by", declared},
		[2]string{"warning", r.Warning}, [2]string{"error", r.Error})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "\nFIRES, newest first (%d)\n", len(r.Last))
	var rows [][]string
	for _, f := range r.Last {
		job := ""
		if f.JobID != nil {
			job = strconv.FormatInt(*f.JobID, 10)
		}
		rows = append(rows, []string{stamp(f.FireAt), job, f.Outcome, fireState(f), f.Note})
	}
	return p.table("AT JOB OUTCOME STATE NOTE", rows)
}

// recurringError says in a sentence what a person got wrong.
func recurringError(id string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("recurring %q: not found; tekrar recurring list names them", id)
	case errors.Is(err, store.ErrStateChanged):
		return fmt.Errorf("recurring %q: it has been removed", id)
	}
	return err
}
