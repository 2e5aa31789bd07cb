package store

// What is kept of scheduled jobs is held against their rows.
const checkScheduled = `with both_sides as (
    select queue, kind, cause, n as kept, 0::bigint as said from tekrar.scheduled_counts
    union all select queue, kind, cause, n, 0 from tekrar.scheduled_changes
    union all select queue, kind, cause, 0, count(*) from tekrar.scheduled group by queue, kind, cause
)
select format('scheduled jobs of queue %s, kind %s, cause %s: %s counted, there are %s', queue, kind, cause, sum(kept), sum(said))
from both_sides group by queue, kind, cause having sum(kept) <> sum(said)
order by queue, kind, cause limit 20`
