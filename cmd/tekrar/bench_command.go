package main

import (
	"context"
	"flag"

	"github.com/tekrar/tekrar/cmd/tekrar/bench"
)

func benchCommand(fs *flag.FlagSet) action {
	var s bench.Settings
	fs.IntVar(&s.Jobs, "jobs", 100_000, "jobs to enqueue and drain")
	fs.IntVar(&s.Workers, "workers", 2000, "jobs that run at once in drain")
	fs.IntVar(&s.ArgBytes, "args-bytes", 0, "filling of the args in bytes")
	fs.BoolVar(&s.River, "river", false, "measure River on the same server as well (from a checkout only)")
	return func(ctx context.Context, p *program, c config, names []string) error {
		s.Database = c.database
		return bench.Run(ctx, s, names, p.stdout)
	}
}
