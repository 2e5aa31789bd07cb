package store

// What is kept of a group, and of each ten minutes of the last day, is held against
// its jobs.
var checkFailures = `with kept as (
    select kind, fingerprint, null::timestamptz as at, n, exhausted, permanent, attempt1, attempt2, attempt3 from tekrar.failure_groups
    union all select kind, fingerprint, null, n, exhausted, permanent, attempt1, attempt2, attempt3 from tekrar.failure_changes
    union all select kind, fingerprint, at, n, 0, 0, 0, 0, 0 from tekrar.failure_changes where at >= ` + failureDay + `
    union all select kind, fingerprint, at, n, 0, 0, 0, 0, 0 from tekrar.failure_times where at >= ` + failureDay + `
), ten as (
    select *, date_bin('10 minutes', failed_at, 'epoch') as at, attempt - snoozes as no from tekrar.failed
), said as (
    select kind, fingerprint, null::timestamptz as at, count(*) as n, count(*) filter (where outcome in (3, 5)) as exhausted, count(*) filter (where outcome = 4) as permanent,
           count(*) filter (where no <= 1) as attempt1, count(*) filter (where no = 2) as attempt2, count(*) filter (where no = 3) as attempt3
    from ten group by kind, fingerprint
    union all select kind, fingerprint, at, count(*), 0, 0, 0, 0, 0 from ten where at >= ` + failureDay + ` group by kind, fingerprint, at
), both_sides as (
    select kind, fingerprint, at, n as kept, 0::bigint as said, exhausted, permanent, attempt1, attempt2, attempt3 from kept
    union all select kind, fingerprint, at, 0, n, -exhausted, -permanent, -attempt1, -attempt2, -attempt3 from said
)
select format('failed jobs of kind %s, group %s%s: %s counted, there are %s; too many exhausted %s, permanent %s, at attempt 1 %s, 2 %s, 3 %s',
    kind, lpad(to_hex(fingerprint), 16, '0'), ' from ' || at, sum(kept), sum(said), sum(exhausted), sum(permanent), sum(attempt1), sum(attempt2), sum(attempt3))
from both_sides group by kind, fingerprint, at
having (sum(kept - said), sum(exhausted), sum(permanent), sum(attempt1), sum(attempt2), sum(attempt3)) <> (0, 0, 0, 0, 0, 0)
order by kind, fingerprint, at limit 20`
