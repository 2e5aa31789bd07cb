package main

import (
	"context"
	"flag"

	"github.com/tekrar/tekrar/store"
)

func recurringList(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON array")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withSchema(ctx, c, func(db *store.DB) error {
			all, err := db.RecurringAll(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				out := []recurringJSON{}
				for _, r := range all {
					out = append(out, newRecurringJSON(r, c))
				}
				return writeJSON(p.stdout, out)
			}
			var rows [][]string
			for _, r := range all {
				last := ""
				if len(r.Last) > 0 {
					last = fireState(r.Last[0])
				}
				rows = append(rows, []string{r.ID, recurringState(r), r.Spec, r.Zone, stampOf(r.NextRun), last, r.Kind, r.Queue})
			}
			return p.table("ID STATE SPEC ZONE NEXT LAST KIND QUEUE", rows)
		})
	}
}

// recurringState is one word for where a recurring job stands.
func recurringState(r store.RecurringRow) string {
	switch {
	case r.RemovedAt != nil:
		return "removed"
	case r.Error != "":
		return "broken"
	case r.PausedAt != nil:
		return "paused"
	case r.NextRun == nil:
		return "ended"
	}
	return "on"
}

func fireState(f store.FireRow) string {
	if f.State != 0 {
		return f.State.String()
	}
	return f.Outcome
}
