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
	var l jobsListed
	l.filters(fs)
	fs.StringVar(&l.after, "after", "", "go on where a list ended: its \"next\"")
	fs.IntVar(&l.limit, "limit", 50, "how many, 1 to 500 (default 50)")
	asJSON := fs.Bool("json", false, "one JSON object: jobs, next")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		f, err := l.filter(c)
		if err != nil {
			return err
		}
		return p.withSchema(ctx, c, func(db *store.DB) error {
			rows, next, err := l.rows(ctx, db, f)
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

// jobsListed is what the flags of jobs list say.
type jobsListed struct {
	state, queue, kind, query, after string

	limit  int
	stated bool // --state was given
}

// filters are the flags that say which jobs, the same for the commands that list them
// and that change all of them.
func (l *jobsListed) filters(fs *flag.FlagSet) {
	l.state, l.limit = store.Failed.String(), 50
	fs.Func("state", "enqueued, scheduled, awaiting, processing, succeeded, failed or deleted (default failed)", func(s string) error {
		l.state, l.stated = s, true
		return nil
	})
	fs.StringVar(&l.queue, "queue", "", "only this queue")
	fs.StringVar(&l.kind, "kind", "", "only this kind")
	fs.StringVar(&l.query, "query", "", "only what this finds, as in the search of the dashboard: field:value, -not, < >, \"quoted text\"; fields: "+store.KnownFields())
}

// given says whether a filter was.
func (l *jobsListed) given() bool { return l.stated || l.queue != "" || l.kind != "" || l.query != "" }

func (l jobsListed) filter(c config) (f store.JobFilter, err error) {
	f = store.JobFilter{Queue: l.queue, Kind: l.kind, Limit: l.limit}
	if f.State, err = store.ParseState(l.state); err != nil {
		return f, usagef("--state: %v", err)
	}
	if l.limit < 1 || l.limit > 500 {
		return f, usagef("--limit is %d, must be a whole number from 1 to 500", l.limit)
	}
	if f.After, err = store.ParseCursor(l.after); err != nil {
		return f, usagef("--after is %q: %v", l.after, err)
	}
	if f.Query, err = store.ParseQuery(l.query); err == nil {
		err = f.Query.CheckPaths(c.redact.HidesPath)
	}
	if err != nil {
		return f, usagef("--query %v", err)
	}
	f.Hidden.Keys, f.Hidden.Paths = c.redact.Parts()
	asked, rest := f.Query.State()
	if asked != 0 && l.stated && asked != f.State {
		return f, usagef("--query asks for %s jobs and --state for %s ones", asked, f.State)
	}
	if asked != 0 {
		f.State, f.Query = asked, rest
	}
	return f, nil
}

// rows are as many as were asked for, if there are: a search gives what it found in
// about a second, and goes on here until it is stopped.
func (l jobsListed) rows(ctx context.Context, db *store.DB, f store.JobFilter) (rows []store.JobRow, next store.Cursor, err error) {
	if !l.stated {
		if f, _, err = db.Aim(ctx, f); err != nil {
			return nil, next, err
		}
	}
	for {
		f.Limit = l.limit - len(rows)
		var more []store.JobRow
		if more, next, err = db.Jobs(ctx, f); err != nil {
			return nil, next, err
		}
		if rows = append(rows, more...); next.IsZero() || len(rows) >= l.limit {
			return rows, next, nil
		}
		f.After = next
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
