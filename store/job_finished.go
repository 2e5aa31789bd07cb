package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

// isLastRow of a history row h: a job that was requeued, restored or deleted
// keeps its older finished rows, and is listed at its last one only. History and
// hot tables are written by one statement, so this also says that no hot row
// exists. A subquery on purpose, an index probe that mostly finds nothing: as an
// anti-join it may become one over all history.
const isLastRow = `(select n.id from tekrar.history n
	where n.job_id = h.job_id and n.id > h.id and n.state <= 6 limit 1) is null`

// Candidates of the list, newest first. The index is (state, kind, id): one kind
// is a range of it, all kinds are merged from the newest of each. The kinds come
// from the index itself (one probe each), not from the kinds table, which forgets
// nothing but has only what a server registered; each by its newest row, since those
// that retention removed last are still there at the other end. "state in (4, 6)" is
// what lets a plan without known parameters use the partial index.
// $1 state, $2 kind, $3 queue, $4 before, $5 rows.
const finishedCandidates = `
with recursive walked as (
    (select h.kind from tekrar.history h
     where h.state in (4, 6) and h.state = $1 and $2::text = '' order by h.kind desc limit 1)
    union all
    select n.kind
    from walked k cross join lateral (
        select h.kind from tekrar.history h
        where h.state in (4, 6) and h.state = $1 and h.kind < k.kind order by h.kind desc limit 1) n
), kind as (
    select kind from walked union all select $2 where $2 <> ''
), candidate as materialized (
    select c.kind, c.id
    from kind k cross join lateral (
        select h.kind, h.id from tekrar.history h
        where h.state in (4, 6) and h.state = $1 and h.kind = k.kind and h.id < $4
        order by h.id desc limit $5) c
    order by c.id desc limit $5
)
select h.id, h.job_id, (($3::text = '' or h.queue = $3) and ` + isLastRow + `) as listed
from candidate c cross join lateral (` + finishedRow + `) h
order by h.id desc`

const finishedRow = `
    select id, job_id, queue, kind, attempt, state, at from tekrar.history
    where state in (4, 6) and state = $1 and kind = c.kind and id = c.id offset 0`

// finishedFound is finishedCandidates for a search: what the conditions of a query
// look at, in a CTE named found.
var finishedFound = strings.Replace(finishedCandidates, "\nselect h.id, h.job_id,", `, found as materialized (
select h.id, h.job_id, h.queue, h.kind, h.attempt, h.state, h.at as ended,`, 1) + ")"

const finishedRows = `
with page as materialized (
    select f.* from unnest($1::bigint[], $2::bigint[]) u(job_id, id)
    cross join lateral (` + fromHistory + `where h.job_id = u.job_id and h.id = u.id offset 0) f
)` + jobRows + `order by p.history_id desc`

// History rows one page may look at, and the most of one statement, of a list and of a
// search.
const (
	candidatesMax   = 10_000
	finishedBatch   = 2_500
	candidatesBatch = 5_000
)

func (db *DB) finished(ctx context.Context, f JobFilter, before int64, limit int) (rows []JobRow, next Cursor, err error) {
	var ids, jobIDs []int64
	batch, more := limit+1, true
	for seen := 0; more && len(ids) <= limit && seen < candidatesMax; batch = min(batch*4, finishedBatch) {
		var found []struct {
			ID     int64 `db:"id"`
			JobID  int64 `db:"job_id"`
			Listed bool  `db:"listed"`
		}
		err := db.SelectContext(ctx, &found, db.sql(finishedCandidates), f.State, f.Kind, f.Queue, before, batch)
		if err != nil {
			return nil, Cursor{}, fmt.Errorf("list %s jobs: %w", f.State, err)
		}
		for _, c := range found {
			before = c.ID
			if c.Listed {
				ids, jobIDs = append(ids, c.ID), append(jobIDs, c.JobID)
			}
		}
		seen += len(found)
		more = len(found) == batch
	}
	switch {
	case len(ids) > limit:
		ids, jobIDs = ids[:limit], jobIDs[:limit]
		next = Cursor{state: f.State, id: ids[limit-1]}
	case more:
		next = Cursor{state: f.State, id: before}
	}
	err = db.SelectContext(ctx, &rows, db.sql(finishedRows), pq.Array(jobIDs), pq.Array(ids))
	if err != nil {
		return nil, Cursor{}, fmt.Errorf("list %s jobs: %w", f.State, err)
	}
	return rows, next, nil
}
