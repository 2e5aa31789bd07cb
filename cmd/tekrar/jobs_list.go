package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"github.com/tekrar/tekrar/store"
)

func jobsList(fs *flag.FlagSet) action {
	state := fs.String("state", "failed", "enqueued, scheduled, awaiting, processing, succeeded, failed or deleted (default failed)")
	queue := fs.String("queue", "", "only this queue")
	kind := fs.String("kind", "", "only this kind")
	after := fs.String("after", "", "go on where a list ended: its \"next\"")
	limit := fs.Int("limit", 50, "how many, 1 to 500 (default 50)")
	asJSON := fs.Bool("json", false, "one JSON object: jobs, next")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		s, err := store.ParseState(*state)
		if err != nil {
			return usagef("--state: %v", err)
		}
		if *limit < 1 || *limit > 500 {
			return usagef("--limit is %d, must be a whole number from 1 to 500", *limit)
		}
		cursor, err := store.ParseCursor(*after)
		if err != nil {
			return usagef("--after is %q: %v", *after, err)
		}
		return p.withSchema(ctx, c, func(db *store.DB) error {
			rows, next, err := db.Jobs(ctx, store.JobFilter{State: s, Queue: *queue, Kind: *kind, After: cursor, Limit: *limit})
			if err != nil {
				return fmt.Errorf("list jobs: %w", err)
			}
			if *asJSON {
				return p.listJSON(rows, next)
			}
			return p.listTable(rows, next)
		})
	}
}

func (p *program) listJSON(rows []store.JobRow, next store.Cursor) error {
	out := struct {
		Jobs []jobJSON `json:"jobs"`
		Next string    `json:"next,omitempty"`
	}{Jobs: []jobJSON{}, Next: next.String()}
	for _, r := range rows {
		out.Jobs = append(out.Jobs, rowJSON(r))
	}
	return writeJSON(p.stdout, out)
}

func (p *program) listTable(rows []store.JobRow, next store.Cursor) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tKIND\tQUEUE\tATTEMPT\tSINCE\tREASON")
	for _, r := range rows {
		why := cmp.Or(r.ErrorLine, r.Reason, "-")
		if r.RunAt != nil {
			why = "runs at " + stamp(*r.RunAt) + "; " + why
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n",
			r.ID, r.State, plain(r.Kind), plain(r.Queue), attemptOf(r), stamp(r.Since), plain(why))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !next.IsZero() {
		fmt.Fprintf(p.stdout, "more: --after %s\n", next)
	}
	return nil
}

// attemptOf is "2 of 4": the attempt the row is about, of those the budget allows.
func attemptOf(r store.JobRow) string {
	n := r.Attempt
	if r.State == store.Enqueued || r.State == store.Scheduled || r.State == store.Awaiting {
		n++
	}
	if r.MaxRetries == nil || r.State == store.Succeeded || r.State == store.Deleted {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, n+max(0, *r.MaxRetries-r.Retry))
}
