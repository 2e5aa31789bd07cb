package store

// steps are the history rows of each job with the state and attempt before them;
// late rows change nothing and are left out.
const steps = `step as (
    select job_id, id, state, attempt, reason, actor,
           lag(state) over w as from_state, lag(attempt) over w as from_attempt
    from tekrar.history where state <= 6
    window w as (partition by job_id order by id)
)`

// The table of transitions. A person may requeue whatever is not processing, so
// enqueued follows enqueued only with an actor.
const checkTransitions = `with ` + steps + `, legal (from_state, state) as (values
    (0, -1), (0, 1), (0, 2),
    (-1, 2), (-1, 6),
    (1, 2), (1, 6),
    (2, 2), (2, 3), (2, 6),
    (3, 1), (3, 2), (3, 4), (3, 5), (3, 6),
    (4, 2), (4, 6),
    (5, 1), (5, 2), (5, 6),
    (6, 2)
), wrong as (
    select s.*, case
        when not exists (select 1 from legal l where l.from_state = coalesce(s.from_state, 0) and l.state = s.state)
          or (s.from_state = 2 and s.state = 2 and s.actor is null)
            then format('%s follows %s', ` + stateName + `[s.state], coalesce(` + stateName + `[s.from_state], 'nothing'))
        when s.attempt <> coalesce(s.from_attempt, 0) + (s.state = 3)::integer
            then format('%s at attempt %s follows attempt %s', ` + stateName + `[s.state], s.attempt, coalesce(s.from_attempt, 0))
        end as what
    from step s
)
select format('job %s: history %s: %s', job_id, id, what)
from wrong where what is not null order by job_id, id limit 20`

// Outcomes by the history rows that settle and reclaim write, told apart by their
// reasons. A failed row that a retry or a deletion by the policy follows is that
// outcome; history cannot tell exhausted from permanent. Deletion by a person ends
// an attempt without an outcome.
const checkStats = `with ` + steps + `, ended as (
    select job_id, case
        when from_state = 3 and state = 4 then 'succeeded'
        when from_state = 3 and state = 5 and reason ~* '(^| )lost [0-9]+ times' then 'lost'
        when from_state = 3 and state = 5 then 'failed'
        when from_state = 5 and state in (1, 2) and reason like 'Retry attempt %' then 'retried'
        when from_state = 5 and state = 6 and reason like 'Exceeded %' then 'exceeded'
        when from_state = 3 and reason like 'Snoozed%' then 'snoozed'
        when from_state = 3 and state = 2 and reason like 'Interrupted%' then 'interrupted'
        when from_state = 3 and state = 2 and reason like 'Server % lost%' then 'lost'
        when from_state = 3 and state = 6 and reason like 'Cancelled%' then 'cancelled'
        end as outcome
    from step
), counted as (
    select outcome, count(*) as n from ended where outcome is not null group by outcome
), both_sides as (
    select outcome, n as history, 0::bigint as stats from counted where outcome <> 'failed'
    union all select 'exhausted or permanent', case outcome when 'failed' then n else -n end, 0
        from counted where outcome in ('failed', 'retried', 'exceeded')
    union all select (array['succeeded','retried','exhausted or permanent','exhausted or permanent',
                            'exceeded','snoozed','interrupted','lost','cancelled'])[outcome], 0, n
        from tekrar.stats
)
select format('statistics: %s %s, history %s', sum(stats), outcome, sum(history))
from both_sides group by outcome having sum(history) <> sum(stats) order by outcome limit 20`
