package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

func jobsEnqueue(fs *flag.FlagSet) action {
	var opts []jobs.EnqueueOption
	fs.Func("queue", "queue; the kind's own when not given", func(s string) error {
		opts = append(opts, jobs.Queue(s))
		return nil
	})
	fs.Func("priority", "-4 to 4, a high number is more urgent", func(s string) error {
		n, err := number(s, -4, 4)
		opts = append(opts, jobs.Priority(n))
		return err
	})
	fs.Func("in", "run after this time, such as 90s or 2h", func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("must be a time such as 90s or 2h")
		}
		opts = append(opts, jobs.In(d))
		return nil
	})
	fs.Func("at", "run at this time, such as 2026-01-31T09:00:00Z", func(s string) error {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return fmt.Errorf("must be a time with zone such as 2026-01-31T09:00:00Z")
		}
		opts = append(opts, jobs.At(at))
		return nil
	})
	asJSON := fs.Bool("json", false, "one JSON object: id, state")
	return func(ctx context.Context, p *program, c config, args []string) error {
		return p.withClient(ctx, c, func(client *jobs.Client) error {
			e, err := client.EnqueueRaw(ctx, args[0], json.RawMessage(args[1]), opts...)
			if err != nil {
				return err
			}
			if *asJSON {
				return writeJSON(p.stdout, map[string]string{"id": strconv.FormatInt(e.ID, 10), "state": e.State.String()})
			}
			_, err = fmt.Fprintf(p.stdout, "job %d: %s\n", e.ID, e.State)
			return err
		})
	}
}
