package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

func claimsPurge(fs *flag.FlagSet) action {
	yes := fs.Bool("yes", false, "do not ask")
	dry := fs.Bool("dry-run", false, "count only")
	window := fs.Duration("window", idempotency.DefaultWindow, "purge those not used for this time, at least 1h (default 720h)")
	asJSON := fs.Bool("json", false, "one JSON object")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withSchema(ctx, c, func(db *store.DB) error {
			claims, err := idempotency.New(db, idempotency.Config{Logger: p.logger(c)})
			if err != nil {
				return err
			}
			if !*dry {
				if err := p.confirm(ctx, *yes, "Settled claims not used for %s will be removed. A forgotten key is a new effect.", *window); err != nil {
					return err
				}
			}
			stop := p.quietly(*asJSON)("purging claims", 0, nil)
			purged, err := claims.PurgeNow(ctx, actor(), idempotency.PurgeOptions{Window: *window, DryRun: *dry})
			stop()
			if err != nil {
				return err
			}
			if *asJSON {
				return writeJSON(p.stdout, idempotency.PurgeReport{DryRun: *dry, Purged: purged})
			}
			did := "removed"
			if *dry {
				did = "would be removed"
			}
			_, err = fmt.Fprintf(p.stdout, "%d claims %s; kept: %s\n", purged.Removed, did, idempotency.Kept(purged))
			return err
		})
	}
}
