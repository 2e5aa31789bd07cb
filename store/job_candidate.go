package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

// candidate is a row that a list walks over, in the list's order, and whether the
// list shows it.
type candidate struct {
	JobID     int64     `db:"job_id"`
	HistoryID int64     `db:"history_id"` // of finished jobs, else 0
	At        time.Time `db:"at"`         // what the list is sorted by; unused of finished jobs
	Since     time.Time `db:"since"`      // since when in this state, if listed
	Listed    bool      `db:"listed"`
}

// place is where a walk stands.
type place struct {
	at time.Time
	id int64
}

func (c candidate) place() place {
	if c.HistoryID != 0 {
		return place{id: c.HistoryID}
	}
	return place{c.At, c.JobID}
}

func (p place) cursor(s State) Cursor {
	if s == Succeeded || s == Deleted {
		return Cursor{state: s, id: p.id}
	}
	return Cursor{state: s, at: p.at.UnixMicro(), id: p.id}
}

const (
	// A scheduled row does not say since when.
	hotCandidates = `
select c.job_id, 0::bigint as history_id, coalesce(c.run_at, c.since) as at, (%[1]s) as listed,
       coalesce(c.since, (select h.at from tekrar.history h where h.job_id = c.job_id and h.state <= 6 order by h.id desc limit 1)) as since
from (select *, case when state = 5 then since end as ended from candidate) c
order by coalesce(c.run_at, c.since) %[2]s, c.job_id %[2]s`

	finishedConditions = `
select c.job_id, c.id as history_id, c.ended as at, c.ended as since, (c.listed and (%s)) as listed
from (select f.*, '' as error_type, '' as error_line from found f) c order by c.id desc`
)

// candidates reads the next n rows of a list under all of a filter.
func (db *DB) candidates(ctx context.Context, f JobFilter, from place, n int) (found []candidate, err error) {
	var text string
	var args []any
	if f.State == Succeeded || f.State == Deleted {
		var condition string
		condition, args = f.Query.condition([]any{f.State, f.Kind, f.Queue, from.id, n}, f.AsOf, f.Hidden)
		text = finishedFound + fmt.Sprintf(finishedConditions, condition)
	} else {
		direction, condition := "asc", ""
		if newestFirst(f.State) {
			direction = "desc"
		}
		condition, args = f.Query.condition(f.pageArgs(from.at, from.id, n), f.AsOf, f.Hidden)
		text = withPage("candidate", f.page()) + fmt.Sprintf(hotCandidates, condition, direction)
	}
	// Not db.sql: queries differ without end, and it keeps each text.
	if err := db.selectAs(ctx, &found, db.qualified(text), args...); err != nil {
		return nil, fmt.Errorf("list %s jobs: %w", f.State, err)
	}
	return found, nil
}

// walk hands the rows of a list to each, in batches, until it says no more, the
// list ends, the query can hold no more of it, or time is up. done: the list ended;
// else at is where to go on.
func (db *DB) walk(ctx context.Context, f JobFilter, at place, patience time.Duration, each func(candidate) bool) (end place, done bool, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, until, err := db.spanOf(ctx, f, at)
	if err != nil {
		return at, false, err
	}
	old := 0 // rows in a row that are older than all that the query can hold
	for batch := 250; ; batch = min(batch*4, candidatesBatch) {
		from := time.Now()
		found, err := db.candidates(ctx, f, at, batch)
		if err != nil {
			// Some of the list was walked, and that much is an answer.
			if ctx.Err() != nil && batch > 250 {
				return at, false, nil
			}
			return at, false, err
		}
		for _, c := range found {
			at = c.place()
			if !each(c) {
				return at, false, nil
			}
			if old++; !c.At.Before(until) {
				old = 0
			} else if old == oldEnough {
				return at, true, nil
			}
		}
		if len(found) < batch {
			return at, true, nil
		}
		// The next batch may take four times as long, until they grow no more.
		longer := time.Duration(min(batch*4, candidatesBatch)/batch) * time.Since(from)
		if time.Since(began)+longer*3/2 > patience {
			return at, false, nil
		}
	}
}

const byIDCandidates = `with candidate as materialized (
	select st.* from unnest($1::bigint[]) u(id) cross join lateral (` + whereItStands + `) st
)
select c.job_id, c.state from (
	select *, case when state in (4, 5, 6) then since end as ended from candidate) c
where ($2::text = '' or c.queue = $2) and ($3::text = '' or c.kind = $3) and (%s) order by c.job_id`

// named are the jobs that a query names by id or key, with their states. ok is
// false when it names none: then lists have to be walked.
func (db *DB) named(ctx context.Context, f JobFilter) (byState map[State][]int64, ok bool, err error) {
	ids, ok, err := db.queryIDs(ctx, f.Query)
	if err != nil || !ok {
		return nil, ok, err
	}
	condition, args := f.Query.condition([]any{pq.Array(ids), f.Queue, f.Kind}, f.AsOf, f.Hidden)
	var rows []struct {
		ID    int64 `db:"job_id"`
		State State `db:"state"`
	}
	if err := db.selectAs(ctx, &rows, db.qualified(fmt.Sprintf(byIDCandidates, condition)), args...); err != nil {
		return nil, true, fmt.Errorf("look jobs up: %w", err)
	}
	byState = map[State][]int64{}
	for _, r := range rows {
		byState[r.State] = append(byState[r.State], r.ID)
	}
	return byState, true, nil
}

// queryIDs are the jobs that can match a query with an id or a key.
func (db *DB) queryIDs(ctx context.Context, q Query) (ids []int64, ok bool, err error) {
	for _, t := range q.terms {
		if t.field == nil || t.not || t.op != equal {
			continue
		}
		switch t.field.name {
		case "id":
			return []int64{t.value.number}, true, nil
		case "key":
			err := db.SelectContext(ctx, &ids, db.sql(`select job_id from tekrar.effect_claims where key = $1 and job_id is not null`), t.text)
			return ids, true, err
		}
	}
	return nil, false, nil
}
