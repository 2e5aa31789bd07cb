package store

import (
	"context"
	"fmt"
	"time"
)

// QueueRow is a queue as the queues page shows it.
type QueueRow struct {
	Name        string
	Depth       Count      // enqueued jobs, exact to 10,000
	OldestReady *time.Time // ready_at of the job that waits longest; nil when none waits
	Running     int64
	// Finished counts the jobs that reached an end (succeeded, failed for good,
	// deleted by their policy or handler) in the last five minutes: the present
	// minute and the four before it. It is a sum, not an average.
	Finished int64
	Servers  int // live servers that work on it; 0 with jobs waiting is worth a warning
	PausedAt *time.Time
	PausedBy string
}

// Names of queues: those of waiting, running, scheduled and failed jobs, all that were
// ever paused or that a live server works on, and those of the 1,000 jobs that await
// their parent for longest (a bound for the page's time, not a rule: no index holds
// their queues). Queues of failed jobs are walked from the newest: those that were
// requeued or deleted may still be in the index at the other end.
var queueList = economical{usual: queueListWith(walkedLanes, walkedHeld), bloated: queueListWith(knownLanes(2), knownHeld(6))}

func queueListWith(lanes, held string) string {
	return `
with recursive` + lanes + `, front as (
    select l.queue, r.ready_at as oldest from lane l cross join lateral (
        select r.ready_at from tekrar.ready r where ` + inLane + ` order by r.ready_at limit 1) r
), failing as (
    (select queue from tekrar.failed order by queue desc limit 1)
    union all
    select n.queue from failing l cross join lateral (
        select queue from tekrar.failed where queue < l.queue order by queue desc limit 1) n
), name as (
    select queue from front
    union select queue from held
    union select queue from failing
    union select queue from (
        select queue, n from tekrar.scheduled_counts union all select queue, n from tekrar.scheduled_changes) s
    group by queue having sum(n) > 0
    union select queue from (select queue from tekrar.awaiting order by since, job_id limit 1000) a
    union select name from tekrar.queues
    union select n from tekrar.servers s cross join lateral unnest(s.queues) n where ` + serverIsLive + `
), finished as materialized (
    select queue, sum(n)::bigint as n from tekrar.stats
    where minute > date_trunc('minute', statement_timestamp()) - interval '5 minutes'
      and outcome in (1, 3, 4, 5, 9)
    group by queue
), ` + held + `
select n.queue, d.n,
       (select min(f.oldest) from front f where f.queue = n.queue),
       coalesce((select sum(h.n) from held h where h.queue = n.queue), 0)::bigint,
       coalesce((select f.n from finished f where f.queue = n.queue), 0),
       (select count(*) from tekrar.servers s where ` + serverIsLive + ` and n.queue = any(s.queues)),
       q.paused_at, coalesce(q.paused_by, ''), ` + deadRows + `
from name n
cross join lateral (
    select count(*) as n from (
        select 1 from lane l cross join lateral (
            select 1 from tekrar.ready r where ` + inLane + ` limit $2) r
        where l.queue = n.queue limit $2) b) d
left join lateral (select paused_at, paused_by from tekrar.queues where name = n.queue offset 0) q on true
order by n.queue`
}

// Queues reads every queue that has jobs, a setting or a live server, by name. While a
// long transaction keeps more than 50,000 dead rows, Running may be as old as in Counts.
func (db *DB) Queues(ctx context.Context) ([]QueueRow, error) {
	text, args := db.asked(queueList, lanesKnown|heldKnown, "", CountMax+1)
	rows, err := db.QueryxContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	defer rows.Close()
	var queues []QueueRow
	for rows.Next() {
		var q QueueRow
		var depth, dead int64
		if err := rows.Scan(&q.Name, &depth, &q.OldestReady, &q.Running, &q.Finished, &q.Servers,
			&q.PausedAt, &q.PausedBy, &dead); err != nil {
			return nil, fmt.Errorf("list queues: %w", err)
		}
		q.Depth = bounded(depth)
		db.bloat.dead.Store(dead)
		queues = append(queues, q)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	return queues, nil
}
