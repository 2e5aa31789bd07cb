package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
)

// searchPatience is how long one page of a search looks for matches. A page has
// two seconds in all.
const searchPatience = 1200 * time.Millisecond

// search is Jobs with a query: it walks the list and tests each row, for as long
// as a page may take.
func (db *DB) search(ctx context.Context, f JobFilter, at time.Time, id int64, limit int) (rows []JobRow, next Cursor, err error) {
	byState, named, err := db.named(ctx, f)
	if err != nil {
		return nil, Cursor{}, err
	}
	if named {
		ids := byState[f.State]
		rows, err = db.JobRows(ctx, ids[:min(len(ids), limit)])
		return rows, Cursor{}, err
	}
	var found []candidate
	more := false
	end, done, err := db.walk(ctx, f, place{at, id}, searchPatience, func(c candidate) bool {
		if c.Listed && len(found) == limit {
			more = true
			return false
		}
		if c.Listed {
			found = append(found, c)
		}
		return true
	})
	if err != nil {
		return nil, Cursor{}, err
	}
	switch {
	case more:
		next = found[limit-1].place().cursor(f.State)
	case !done:
		next = end.cursor(f.State)
	}
	rows, err = db.rowsOf(ctx, f.State, found)
	return rows, next, err
}

// rowsOf completes candidates in their order. Jobs that left the state since are
// left out.
func (db *DB) rowsOf(ctx context.Context, s State, found []candidate) (rows []JobRow, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids, history := make([]int64, len(found)), make([]int64, len(found))
	for i, c := range found {
		ids[i], history[i] = c.JobID, c.HistoryID
	}
	if s == Succeeded || s == Deleted {
		err = db.SelectContext(ctx, &rows, db.sql(finishedRows), pq.Array(ids), pq.Array(history))
		return rows, err
	}
	if rows, err = db.JobRows(ctx, ids); err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r JobRow) bool { return r.State != s })
	slices.SortFunc(rows, func(a, b JobRow) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return rows, nil
}

// CountWithin counts what the list of f held at seen, without the bound of
// CountJobs, for at most the given time; then it is AtLeast. A bulk operation with
// that SeenAt moves these jobs.
func (db *DB) CountWithin(ctx context.Context, f JobFilter, seen time.Time, patience time.Duration) (c Count, err error) {
	text, hot := exactCounts[f.State]
	if !hot || !f.Query.IsZero() || f.Group != nil || f.impossible() || f.check() != nil {
		return db.countTo(ctx, f, seen, patience, 0)
	}
	if err := db.GetContext(ctx, &c.N, db.sql(text), f.Queue, f.Kind, seen); err != nil {
		return Count{}, fmt.Errorf("count %s jobs: %w", f.State, err)
	}
	return c, nil
}

// exactCounts count a hot table without a bound. Scheduled rows do not say since
// when they are there, so those are walked.
var exactCounts = map[State]string{
	Enqueued: exactCount("ready", "ready_at"), Processing: exactCount("running", "started_at"),
	Failed: exactCount("failed", "failed_at"), Awaiting: exactCount("awaiting", "since"),
}

func exactCount(table, since string) string {
	return "select count(*) from tekrar." + table + " where ($1::text = '' or queue = $1) and ($2::text = '' or kind = $2) and " + since + " <= $3"
}

// countTo stops at max, when that is not 0.
func (db *DB) countTo(ctx context.Context, f JobFilter, seen time.Time, patience time.Duration, max int64) (c Count, err error) {
	if err := f.check(); err != nil || f.impossible() {
		return Count{}, err
	}
	if byState, named, err := db.named(ctx, f); named || err != nil {
		return Count{N: int64(len(byState[f.State]))}, err
	}
	f.After = Cursor{}
	at, id, err := f.After.after(f.State)
	if err != nil {
		return Count{}, err
	}
	_, done, err := db.walk(ctx, f, place{at, id}, patience, func(one candidate) bool {
		counts := one.Listed && !one.Since.After(seen)
		if counts && max > 0 && c.N == max {
			return false
		}
		if counts {
			c.N++
		}
		return true
	})
	c.AtLeast = !done
	return c, err
}

// StatesOf says where the jobs are that f's query names by id or key, whatever
// f.State says. ok: it names some.
func (db *DB) StatesOf(ctx context.Context, f JobFilter) (n map[State]int64, ok bool, err error) {
	if f.impossible() {
		return nil, false, nil
	}
	byState, ok, err := db.named(ctx, f)
	n = map[State]int64{}
	for s, ids := range byState {
		n[s] = int64(len(ids))
	}
	return n, ok, err
}

// Aim turns a list to where the jobs are that its query names by id or key: a
// person who knows the job need not know its state. n is what StatesOf says, nil
// when the query names none.
func (db *DB) Aim(ctx context.Context, f JobFilter) (aimed JobFilter, n map[State]int64, err error) {
	if f.Query.IsZero() {
		return f, nil, nil
	}
	n, named, err := db.StatesOf(ctx, f)
	if err != nil || !named {
		return f, nil, err
	}
	for _, s := range States {
		if n[f.State] == 0 && n[s] > 0 {
			f.State = s
		}
	}
	return f, n, nil
}
