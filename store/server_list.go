package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// ServerRow is a process that runs jobs. It is live while it is neither stopped
// nor lost and Now is before LeaseUntil; past that it waits to be declared lost.
type ServerRow struct {
	ID                            int64
	Name, Host, Version           string
	PID, Slots, Running           int
	Listening                     bool // woken by LISTEN; else it polls
	Queues, Kinds                 []string
	StartedAt, SeenAt, LeaseUntil time.Time
	DrainingAt, StoppedAt, LostAt *time.Time
	Now                           time.Time // the database's clock: ages are Now minus a time of this row
}

// serverIsLive of a servers row s; the first two tests are the index servers_live.
const serverIsLive = `s.stopped_at is null and s.lost_at is null and s.lease_until > statement_timestamp()`

var serverList = economical{usual: serverListWith(walkedHeld), bloated: serverListWith(knownHeld(1))}

func serverListWith(held string) string {
	return `
with ` + held + `
select s.id, s.name, s.host, s.version, s.pid, s.slots,
       coalesce((select sum(h.n) from held h where h.server = s.id), 0)::bigint,
       s.listening, s.queues, s.kinds, s.started_at, s.seen_at, s.lease_until,
       s.draining_at, s.stopped_at, s.lost_at, statement_timestamp()
from tekrar.servers s
where (s.stopped_at is null and s.lost_at is null)
   or greatest(s.stopped_at, s.lost_at) > statement_timestamp() - interval '24 hours'
order by s.stopped_at is not null or s.lost_at is not null, s.started_at desc, s.id desc`
}

// Servers reads the servers that are neither stopped nor lost, then those that
// stopped or were lost within the last 24 hours; newest first in both. While a long
// transaction keeps more than 50,000 dead rows, Running may be as old as in Counts.
func (db *DB) Servers(ctx context.Context) ([]ServerRow, error) {
	text, args := db.asked(serverList, heldKnown)
	rows, err := db.QueryxContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("list servers: %w", err)
	}
	defer rows.Close()
	var servers []ServerRow
	for rows.Next() {
		var s ServerRow
		if err := rows.Scan(&s.ID, &s.Name, &s.Host, &s.Version, &s.PID, &s.Slots, &s.Running,
			&s.Listening, pq.Array(&s.Queues), pq.Array(&s.Kinds), &s.StartedAt, &s.SeenAt, &s.LeaseUntil,
			&s.DrainingAt, &s.StoppedAt, &s.LostAt, &s.Now); err != nil {
			return nil, fmt.Errorf("list servers: %w", err)
		}
		servers = append(servers, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list servers: %w", err)
	}
	return servers, nil
}
