package main

import (
	"context"
	"flag"

	"github.com/tekrar/tekrar/jobs"
)

func queuesPause(fs *flag.FlagSet) action {
	return queuesSet(fs, "paused", func(ctx context.Context, client *jobs.Client, name string) error {
		return client.PauseQueue(ctx, actor(), name)
	})
}

func queuesResume(fs *flag.FlagSet) action {
	return queuesSet(fs, "resumed", func(ctx context.Context, client *jobs.Client, name string) error {
		return client.ResumeQueue(ctx, actor(), name)
	})
}

func queuesSet(fs *flag.FlagSet, now string, do func(context.Context, *jobs.Client, string) error) action {
	asJSON := fs.Bool("json", false, "one JSON object: queue, now")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withClient(ctx, c, func(client *jobs.Client) error {
			if err := do(ctx, client, args[0]); err != nil {
				return err
			}
			return p.did(*asJSON, "queue", args[0], now)
		})
	}
}
