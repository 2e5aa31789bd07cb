package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Condition says how its parent has to end for a continuation to start.
type Condition int16

// The conditions of a continuation.
const (
	OnSuccess Condition = 1 // the parent succeeded
	OnFailure Condition = 2 // the parent failed for good, or was deleted
	Always    Condition = 3 // any of these
)

// A parent that failed or was deleted can still be requeued or restored, and
// succeed: who waits for its success waits on. A parent without history is gone.
const (
	parentState = `(select state from tekrar.history where job_id = a.parent_id and state <= 6 order by id desc limit 1)`
	isDue       = `(p.state is null or p.state = 4 or (p.state in (5, 6) and a.condition <> 1))`
	starts      = `(s.condition = 3 or (coalesce(s.ended, 0) = 4 and s.condition = 1) or (coalesce(s.ended, 0) in (5, 6) and s.condition = 2))`
)

// followers selects continuations that can be decided. Rows that another server
// decides just now are skipped: it does the same. The list leads: ordered by job,
// the statement once walked all of awaiting in that order, some 30 times as slow.
func followers(which string) string {
	return `due as materialized (
select d.*, 0 as attempt, 0 as retry, 0 as snoozes, 0::smallint as losses
from unnest($1::bigint[]) as i(id) cross join lateral (
  select a.ctid as tid, a.job_id, a.parent_id, a.condition, a.priority, a.queue, a.kind, p.state as ended
  from tekrar.awaiting a left join lateral ` + parentState + ` p on true
  where a.` + which + ` = i.id and ` + isDue + `
  limit 1000 for update of a skip locked) d
limit 1000
), gone as (
delete from tekrar.awaiting where ctid = any(array(select tid from due))
), told as (
select count(pg_notify($2, 'q' || queue)) as n from (select distinct queue from due s where ` + starts + `) q
), ` + moved("due", map[string]string{
		"state": "case when " + starts + " then 2::smallint else 6::smallint end",
		"reason": `'Parent ' || s.parent_id || case s.ended when 4 then ' succeeded' when 5 then ' failed' when 6 then ' was deleted' else ' is gone' end ||
  case when ` + starts + ` then '' when s.condition = 2 then '; it waited for a failure' else '; it waited for a success' end`,
	})
}

type followersOf string

const (
	ofParents followersOf = "parent_id" // the continuations of these jobs
	ofJobs    followersOf = "job_id"    // these continuations
)

const followersFinal = `select m.job_id, m.state, m.queue, (select n from told) as told from moved m order by m.job_id`

var continueStatements = map[followersOf]string{
	ofParents: transition(followers(string(ofParents)), toReady, followersFinal),
	ofJobs:    transition(followers(string(ofJobs)), toReady, followersFinal),
}

// Continued is a continuation that was decided: enqueued, or deleted because its
// condition can never come true.
type Continued struct {
	ID    int64  `db:"job_id"`
	State State  `db:"state"`
	Queue string `db:"queue"`
	Told  int64  `db:"told"`
}

// continueIn decides continuations inside a transaction, and those of the ones
// that it deletes: they ended too.
func (db *DB) continueIn(ctx context.Context, q Querier, of followersOf, ids []int64) (all []Continued, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids))) // named twice, it would be moved twice
	for len(ids) > 0 {
		chunk := ids[:min(len(ids), 1000)]
		rows, err := q.QueryContext(ctx, db.sql(continueStatements[of]), pq.Array(chunk), db.jobsChannel())
		if err != nil {
			return nil, fmt.Errorf("start continuations: %w", err)
		}
		var list []Continued
		if err := sqlx.StructScan(rows, &list); err != nil {
			return nil, fmt.Errorf("start continuations: %w", err)
		}
		all = append(all, list...)
		if len(list) < 1000 {
			ids = ids[len(chunk):]
		}
		var ended []int64
		for _, c := range list {
			if c.State == Deleted {
				ended = append(ended, c.ID)
			}
		}
		more, err := db.continueIn(ctx, q, ofParents, ended)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// Continue starts the continuations of jobs that ended, whoever ended them, and
// deletes those whose condition can never come true any more. Ids that are no
// parent, or have not ended, cost a look.
func (db *DB) Continue(ctx context.Context, parents []int64) (all []Continued, err error) {
	err = db.txRetry(ctx, func(tx *sqlx.Tx) (err error) {
		all, err = db.continueIn(ctx, tx, ofParents, parents)
		db.reach("continue: decided")
		return err
	})
	return all, err
}
