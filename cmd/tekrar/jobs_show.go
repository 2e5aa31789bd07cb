package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/tekrar/tekrar/store"
)

func jobsShow(fs *flag.FlagSet) action {
	history := fs.Int("history", 50, "how many of the newest history rows, 1 to 500 (default 50)")
	asJSON := fs.Bool("json", false, "one JSON object")
	return func(ctx context.Context, p *program, c config, args []string) error {
		id, err := jobID(args[0])
		if err != nil {
			return err
		}
		if *history < 1 || *history > 500 {
			return usagef("--history is %d, must be a whole number from 1 to 500", *history)
		}
		return p.withSchema(ctx, c, func(db *store.DB) error {
			d, err := db.Job(ctx, id, *history, 0)
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("job %d: not found", id)
			}
			if err != nil {
				return err
			}
			d.Args = c.redact.JSON(d.Args)
			for i := range d.History {
				d.History[i].Data = c.redact.JSON(d.History[i].Data)
			}
			if *asJSON {
				return writeJSON(p.stdout, detailJSON(d))
			}
			return p.showJob(d)
		})
	}
}

func jobID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, usagef("ID is %q, must be a whole number from 1", text)
	}
	return id, nil
}

func (p *program) showJob(d store.JobDetail) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, value) }
	row("job", strconv.FormatInt(d.ID, 10))
	row("kind", plain(d.Kind))
	row("queue", plain(d.Queue))
	row("state", d.State.String()+" since "+stamp(d.Since))
	row("attempt", attemptOf(d.JobRow))
	if d.RunAt != nil {
		row("runs at", stamp(*d.RunAt))
	}
	row("args", plain(compact(d.Args)))
	if d.Policy != nil {
		row("retry policy", plain(string(d.Policy))+" ("+d.PolicyFrom+"'s)")
	}
	fmt.Fprintf(t, "\nHISTORY, newest first (%d of %d)\n", len(d.History), d.HistoryTotal)
	for _, h := range d.History {
		took := ""
		if h.Duration != nil {
			took = h.Duration.Round(time.Microsecond).String()
		}
		fmt.Fprintf(t, "%s\t%s\tattempt %d\t%s\t%s\t%s\n", h.At.UTC().Format("2006-01-02 15:04:05.000Z"),
			h.State, h.Attempt, plain(cmp.Or(h.Actor, h.Server, "-")), cmp.Or(took, "-"), plain(h.Reason))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return p.showError(d.History)
}

// showError prints the newest error in full.
func (p *program) showError(history []store.HistoryRow) error {
	for _, h := range history {
		var data struct{ Error, Stack string }
		if json.Unmarshal(h.Data, &data) != nil || data.Error == "" {
			continue
		}
		_, err := fmt.Fprintf(p.stdout, "\nERROR of attempt %d\n%s\n", h.Attempt, lines(data.Error, "  "))
		if err == nil && data.Stack != "" {
			_, err = fmt.Fprintf(p.stdout, "\nSTACK\n%s\n", lines(data.Stack, "  "))
		}
		return err
	}
	return nil
}
