package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/store"
)

type queueJSON struct {
	Name        string     `json:"name"`
	Depth       int64      `json:"depth"`
	AtLeast     bool       `json:"depth_at_least,omitempty"` // counted no further
	OldestReady *time.Time `json:"oldest_ready"`
	Running     int64      `json:"running"`
	Finished    int64      `json:"finished_5min"`
	Servers     int        `json:"servers"`
	PausedAt    *time.Time `json:"paused_at"`
	PausedBy    string     `json:"paused_by,omitempty"`
}

func queuesList(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON array")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withSchema(ctx, c, func(db *store.DB) error {
			queues, err := db.Queues(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				out := []queueJSON{}
				for _, q := range queues {
					out = append(out, queueJSON{q.Name, q.Depth.N, q.Depth.AtLeast, inUTC(q.OldestReady), q.Running,
						q.Finished, q.Servers, inUTC(q.PausedAt), q.PausedBy})
				}
				return writeJSON(p.stdout, out)
			}
			var rows [][]string
			for _, q := range queues {
				depth, paused := fmt.Sprint(q.Depth.N), ""
				if q.Depth.AtLeast {
					depth += "+"
				}
				if q.PausedAt != nil {
					paused = stamp(*q.PausedAt) + " by " + q.PausedBy
				}
				rows = append(rows, []string{q.Name, depth, stampOf(q.OldestReady), fmt.Sprint(q.Running),
					fmt.Sprint(q.Finished), fmt.Sprint(q.Servers), paused})
			}
			return p.table("QUEUE WAITING OLDEST RUNNING FINISHED/5MIN SERVERS PAUSED", rows)
		})
	}
}
