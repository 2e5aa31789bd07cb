package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/tekrar/tekrar/jobs"
)

func recurringRun(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object: recurring, job")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withClient(ctx, c, func(client *jobs.Client) error {
			job, err := client.RunRecurringNow(ctx, actor(), args[0])
			if err != nil {
				return recurringError(args[0], err)
			}
			if *asJSON {
				return writeJSON(p.stdout, map[string]string{"recurring": args[0], "job": fmt.Sprint(job.ID)})
			}
			_, err = fmt.Fprintf(p.stdout, "recurring %s: job %d enqueued; the next fire stays where it is\n", plain(args[0]), job.ID)
			return err
		})
	}
}

func recurringPause(fs *flag.FlagSet) action {
	return recurringSet(fs, "paused", (*jobs.Client).PauseRecurring)
}

func recurringResume(fs *flag.FlagSet) action {
	return recurringSet(fs, "resumed", (*jobs.Client).ResumeRecurring)
}

func recurringSet(fs *flag.FlagSet, now string, do func(*jobs.Client, context.Context, string, string) error) action {
	asJSON := fs.Bool("json", false, "one JSON object: recurring, now")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withClient(ctx, c, func(client *jobs.Client) error {
			if err := do(client, ctx, actor(), args[0]); err != nil {
				return recurringError(args[0], err)
			}
			return p.did(*asJSON, "recurring", args[0], now)
		})
	}
}
