package main

import (
	"context"
	"flag"
	"io"
	"slices"

	"github.com/tekrar/tekrar/cmd/tekrar/bench"
)

func benchCommand(fs *flag.FlagSet) action {
	var s bench.Settings
	fs.IntVar(&s.Jobs, "jobs", 100_000, "jobs to enqueue and drain")
	fs.IntVar(&s.Workers, "workers", 2000, "jobs that run at once in drain")
	fs.IntVar(&s.ArgBytes, "args-bytes", 0, "filling of the args in bytes")
	fs.IntVar(&s.Aged, "aged", 5_000_000, "aged, steady-aged: finished jobs in the tables")
	fs.IntVar(&s.Rate, "rate", 2000, "steady, steady-aged: jobs a second")
	fs.IntVar(&s.Seconds, "seconds", 60, "steady, steady-aged: seconds under load")
	fs.BoolVar(&s.River, "river", false, "measure River on the same server as well (from a checkout only)")
	var chaos bench.ChaosSettings
	fs.Float64Var(&chaos.Minutes, "minutes", 1, "chaos: minutes under load and faults")
	fs.Uint64Var(&chaos.Seed, "seed", 1, "chaos: seed of the faults and the load")
	fs.IntVar(&chaos.Processes, "workers-processes", 3, "chaos: worker processes, 2 to 50")
	fs.Float64Var(&chaos.Crashes, "crashes", 1, "chaos: crashes of the database a minute, 0 to 10")
	return func(ctx context.Context, p *program, c config, names []string) error {
		if slices.Contains(names, "chaos") {
			if len(names) > 1 || c.database != "" {
				return usagef("bench chaos runs alone, on a private server of its own")
			}
			if err := chaos.Check(); err != nil {
				return usagef("%v", err)
			}
			chaos.Working = p.working
			return bench.Chaos(ctx, chaos, p.stdout)
		}
		s.Database, s.Working = c.database, p.working
		return bench.Run(ctx, s, names, p.beside(p.stdout))
	}
}

// runBenchWorker is not in the list of commands: only the sub-bench procs starts it.
func (p *program) runBenchWorker(ctx context.Context, in io.Reader, args []string) error {
	return bench.RunWorker(ctx, p.getenv("DATABASE_URL"), in, args)
}

// runChaosWorker is not in the list of commands: only the chaos run starts it.
func (p *program) runChaosWorker(ctx context.Context, in io.Reader, names []string) error {
	return bench.RunChaosWorker(ctx, p.getenv("DATABASE_URL"), in, p.stderr, names)
}

// runSoak is not in the list of commands: .ci/soak-patroni starts it, does harm to the
// database, and names each fault on its input.
func (p *program) runSoak(ctx context.Context, in io.Reader, args []string) error {
	if len(args) != 1 {
		return usagef("%s needs a folder for what it writes", bench.SoakCommand)
	}
	return bench.Soak(ctx, p.getenv("DATABASE_URL"), args[0], in, p.stdout)
}
