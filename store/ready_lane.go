package store

import "fmt"

// Enqueued jobs have an index for claims only, (queue, priority, ready_at): what reads
// them merges its lanes. Each lane comes with a place in it before which no job waits.

// walkedLanes come from the index itself: one probe each, which walks all dead rows
// before the first job that waits; that one's ready_at is the place. $1 queue; empty: all.
const walkedLanes = `
lane as (
    (select f.queue, f.priority, f.after
     from (select queue, priority, ready_at as after from tekrar.ready where queue >= $1::text
           order by queue, priority, ready_at limit 1) f
     where $1 = '' or f.queue = $1)
    union all
    select n.queue, n.priority, n.after
    from lane l cross join lateral (
        select r.queue, r.priority, r.ready_at as after from tekrar.ready r
        where (r.queue, r.priority) > (l.queue, l.priority)
        order by r.queue, r.priority, r.ready_at limit 1) n
    where $1 = '' or n.queue = $1
)`

// knownLanes are three parameters more than params, what readyFront remembers. With
// params, $1 is as in walkedLanes.
func knownLanes(params int) string {
	of := ""
	if params > 0 {
		of = "where $1::text = '' or k.queue = $1"
	}
	return fmt.Sprintf(`
lane as (
    select k.queue, k.priority, k.after
    from rows from (unnest($%d::text[]), unnest($%d::smallint[]), unnest($%d::timestamptz[])) as k(queue, priority, after)
    %s
)`, params+1, params+2, params+3, of)
}

// inLane is the rows of a lane l as r.
const inLane = `r.queue = l.queue and r.priority = l.priority and r.ready_at >= l.after`

// waitingTo is the jobs that wait under a condition on r, up to a number of them.
func waitingTo(limit int, which string) string {
	return fmt.Sprintf(`(
		select 1 from lane l cross join lateral (
			select 1 from tekrar.ready r where %[2]s and %[3]s limit %[1]d) r
		limit %[1]d)`, limit, inLane, which)
}
