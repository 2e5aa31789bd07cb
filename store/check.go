package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// breachesMax is how many breaches one report names.
const breachesMax = 20

// checks each report one kind of breach in words, jobs first.
var checks = []string{checkOneHotRow, checkKnownJob, checkStands, checkCopies, checkTransitions, checkStats, checkFailures, checkScheduled, checkEffects}

// Check looks for contradictions between what the tables say, all of them read at
// one moment, so it holds on a working system too:
//
//   - a job is in at most one hot table, and every row belongs to a job;
//   - its hot row says the same as its last history row that is not late (state,
//     attempt, server), and a succeeded or deleted job has no hot row;
//   - its history is unbroken: it begins enqueued, scheduled or awaiting at attempt 0, each
//     state follows from the one before by the table of transitions, and attempt
//     grows by one at each processing row and nowhere else;
//   - statistics count, outcome by outcome, as many attempts as history holds. Once
//     retention has removed history, statistics rightly hold more, and this part
//     reports that;
//   - what is kept of each group of failed jobs, and of the scheduled jobs of each
//     queue, kind and cause, is what these jobs say;
//   - no succeeded job left an effect claim unsettled.
//
// The error names the first 20 breaches; nil: none. It reads every row of every
// job and is not for busy hours.
func (db *DB) Check(ctx context.Context) error {
	var breaches []string
	err := db.snapshot(ctx, func(tx *sqlx.Tx) error {
		err := wholeTables(ctx, tx)
		for _, text := range checks {
			var found []string
			if err == nil && len(breaches) < breachesMax {
				err = tx.SelectContext(ctx, &found, db.sql(text))
			}
			breaches = append(breaches, found...)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if len(breaches) == 0 {
		return nil
	}
	more := ""
	if len(breaches) >= breachesMax {
		breaches, more = breaches[:breachesMax], " or more"
	}
	return fmt.Errorf("check: breaches found: %d%s\n%s", len(breaches), more, strings.Join(breaches, "\n"))
}

// hotRows holds what the five hot tables say, with the state that the table stands for.
const hotRows = `hot as (
    select job_id, 2 as state, attempt, null::bigint as server, priority, queue, kind from tekrar.ready
    union all select job_id, 3, attempt, server, priority, queue, kind from tekrar.running
    union all select job_id, 1, attempt, null, priority, queue, kind from tekrar.scheduled
    union all select job_id, 5, attempt, null, priority, queue, kind from tekrar.failed
    union all select job_id, -1, 0, null, priority, queue, kind from tekrar.awaiting
)`

const stateName = `('[-1:7]={awaiting,none,scheduled,enqueued,processing,succeeded,failed,deleted,late}'::text[])`

const checkOneHotRow = `with ` + hotRows + `
select format('job %s: in several hot tables: %s', job_id, string_agg(` + stateName + `[state], ', ' order by state))
from hot group by job_id having count(*) > 1 order by job_id limit 20`

const checkKnownJob = `with ` + hotRows + `, named as (
    select distinct job_id from hot union select distinct job_id from tekrar.history
)
select format('job %s: has rows, but no row in jobs', n.job_id)
from named n left join tekrar.jobs j on j.id = n.job_id
where j.id is null order by n.job_id limit 20`

const checkStands = `with ` + hotRows + `, last as (
    select distinct on (job_id) job_id, id, state, attempt, server
    from tekrar.history where state <= 6 order by job_id, id desc
)
select format('job %s: %s', j.id, case
    when l.job_id is null then 'no history'
    when h.job_id is null then format('history %s says %s, but no hot table has it', l.id, ` + stateName + `[l.state])
    when l.state in (4, 6) then format('history %s says %s, but it is also %s', l.id, ` + stateName + `[l.state], ` + stateName + `[h.state])
    when l.state <> h.state then format('history %s says %s, but it is %s', l.id, ` + stateName + `[l.state], ` + stateName + `[h.state])
    when l.attempt <> h.attempt then format('%s at attempt %s, but history %s says attempt %s', ` + stateName + `[h.state], h.attempt, l.id, l.attempt)
    else format('processing on server %s, but history %s says server %s', h.server, l.id, coalesce(l.server::text, 'none')) end)
from tekrar.jobs j
left join last l on l.job_id = j.id
left join hot h on h.job_id = j.id
where l.job_id is null
   or (l.state in (4, 6)) <> (h.job_id is null)
   or (h.job_id is not null and (l.state <> h.state or l.attempt <> h.attempt))
   or (h.state = 3 and h.server is distinct from l.server)
order by j.id limit 20`

const checkCopies = `with ` + hotRows + `
select format('job %s: its %s row has queue %s, kind %s, priority %s, the job %s, %s, %s',
    j.id, ` + stateName + `[h.state], h.queue, h.kind, h.priority, j.queue, j.kind, j.priority)
from hot h join tekrar.jobs j on j.id = h.job_id
where (h.queue, h.kind, h.priority) is distinct from (j.queue, j.kind, j.priority)
order by j.id limit 20`
