package main

import (
	"context"
	"flag"

	"github.com/tekrar/tekrar/jobs"
)

func recurringRemove(fs *flag.FlagSet) action {
	yes := fs.Bool("yes", false, "do not ask")
	set := recurringSet(fs, "removed", (*jobs.Client).RemoveRecurring)
	return func(ctx context.Context, p *program, c config, args []string) error {
		if err := p.confirm(ctx, *yes, "Recurring %q will fire no more.", args[0]); err != nil {
			return err
		}
		return set(ctx, p, c, args)
	}
}
