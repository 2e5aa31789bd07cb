package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tekrar/tekrar/store"
)

type serverJSON struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	State      string     `json:"state"`
	Host       string     `json:"host"`
	PID        int        `json:"pid"`
	Version    string     `json:"version"`
	Slots      int        `json:"slots"`
	Running    int        `json:"running"`
	Listening  bool       `json:"listening"`
	Queues     []string   `json:"queues"`
	Kinds      []string   `json:"kinds"`
	StartedAt  time.Time  `json:"started_at"`
	SeenAt     time.Time  `json:"seen_at"`
	LeaseUntil time.Time  `json:"lease_until"`
	DrainingAt *time.Time `json:"draining_at,omitempty"`
	StoppedAt  *time.Time `json:"stopped_at,omitempty"`
	LostAt     *time.Time `json:"lost_at,omitempty"`
}

func serversList(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON array")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withSchema(ctx, c, func(db *store.DB) error {
			servers, err := db.Servers(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				out := []serverJSON{}
				for _, s := range servers {
					out = append(out, serverJSON{strconv.FormatInt(s.ID, 10), s.Name, serverState(s), s.Host, s.PID, s.Version,
						s.Slots, s.Running, s.Listening, s.Queues, s.Kinds, s.StartedAt.UTC(), s.SeenAt.UTC(), s.LeaseUntil.UTC(),
						inUTC(s.DrainingAt), inUTC(s.StoppedAt), inUTC(s.LostAt)})
				}
				return writeJSON(p.stdout, out)
			}
			var rows [][]string
			for _, s := range servers {
				woken := "polls"
				if s.Listening {
					woken = "LISTEN"
				}
				rows = append(rows, []string{strconv.FormatInt(s.ID, 10), s.Name, serverState(s), fmt.Sprintf("%d of %d", s.Running, s.Slots),
					age(s.Now.Sub(s.SeenAt)) + " ago", woken, s.Version, strings.Join(s.Queues, ",")})
			}
			return p.table("ID NAME STATE RUNNING SEEN WOKEN VERSION QUEUES", rows)
		})
	}
}

// serverState is one word for where a server stands.
func serverState(s store.ServerRow) string {
	switch {
	case s.LostAt != nil:
		return "lost"
	case s.StoppedAt != nil:
		return "stopped"
	case !s.Now.Before(s.LeaseUntil):
		return "overdue"
	case s.DrainingAt != nil:
		return "draining"
	}
	return "live"
}
