package store

// The success gate: an attempt that left an effect claim of its job unsettled has
// not succeeded, whatever its handler returned. The job goes to failed, not to a
// retry: the claim says that the effect may have happened, and a retry can wait for
// a person. A claim that the attempt did not touch was made under another key,
// which changed between attempts.
//
// Only outcomes that are successes look, and nearly always find an empty page of
// the partial index.
const openEffect = `left join lateral (
  select left(format('the handler returned without an error, but its effect claim %s is %s%s', c.key,
    (array['claimed', 'begun', 'unknown'])[c.state],
    case when c.attempt < i.attempt then format(' since attempt %s: this attempt did not touch it, so the key changed', c.attempt) else '' end), 400) as open
  from tekrar.effect_claims c where i.state = 4 and c.job_id = i.job_id and c.state in (1, 2, 3) limit 1) u on true`

const openEffectType = "unsettled effect claim"

// What the gate is there for, looked at from behind.
const checkEffects = `select format('job %s: succeeded, but its effect claim %s is %s', c.job_id, c.key, (array['claimed', 'begun', 'unknown'])[c.state])
from tekrar.effect_claims c cross join lateral (
  select state from tekrar.history where job_id = c.job_id and state <= 6 order by id desc limit 1) h
where c.state in (1, 2, 3) and c.job_id is not null and h.state = 4 order by c.key limit 20`
