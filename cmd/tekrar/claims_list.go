package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/tekrar/tekrar/store"
)

func claimsList(fs *flag.FlagSet) action {
	tab := fs.String("tab", "unsettled", "unsettled, unknown, done or released (default unsettled)")
	after := fs.String("after", "", "go on where a list ended: its \"next\"")
	limit := fs.Int("limit", 50, "how many, 1 to 500 (default 50)")
	asJSON := fs.Bool("json", false, "one JSON object: claims, next")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		t, err := store.ParseEffectTab(*tab)
		if err != nil {
			return usagef("--tab: %v", err)
		}
		if *limit < 1 || *limit > 500 {
			return usagef("--limit is %d, must be a whole number from 1 to 500", *limit)
		}
		cursor, err := store.ParseEffectCursor(t, *after)
		if err != nil {
			return usagef("--after is %q: %v", *after, err)
		}
		return p.withSchema(ctx, c, func(db *store.DB) error {
			all, next, err := db.EffectPage(ctx, t, cursor, *limit)
			if err != nil {
				return err
			}
			if *asJSON {
				return p.claimsJSON(all, next, c)
			}
			var rows [][]string
			for _, e := range all {
				rows = append(rows, []string{e.Key, claimState(e), claimHolder(e), stamp(e.ClaimedAt), fmt.Sprint(e.Generation), fmt.Sprint(e.Duplicates), e.Reason})
			}
			if err := p.table("KEY STATE HOLDER CLAIMED GENERATION DUPLICATES REASON", rows); err != nil {
				return err
			}
			if !next.IsZero() {
				fmt.Fprintf(p.stdout, "more: --after %s\n", next)
			}
			return nil
		})
	}
}

func (p *program) claimsJSON(all []store.Effect, next store.EffectCursor, c config) error {
	out := struct {
		Claims []claimJSON `json:"claims"`
		Next   string      `json:"next,omitempty"`
	}{Claims: []claimJSON{}, Next: next.String()}
	for _, e := range all {
		out.Claims = append(out.Claims, newClaimJSON(e, c))
	}
	return writeJSON(p.stdout, out)
}

func claimState(e store.Effect) string {
	if e.Stale {
		return e.State.String() + ", holder gone"
	}
	return e.State.String()
}

func claimHolder(e store.Effect) string {
	if e.Holder.JobID != 0 {
		return fmt.Sprintf("job %d, attempt %d", e.Holder.JobID, e.Holder.Attempt)
	}
	return e.Holder.Name
}
