package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// JobFilter says which jobs a list or a count holds. Queue and Kind match
// exactly and literally; empty means any.
type JobFilter struct {
	State State // required
	Queue string
	Kind  string
	Cause Cause // of scheduled jobs only; 0 any. CauseRetry are the waiting retries
	// Group is the fingerprint of a group of failures; of failed jobs only, and with
	// the Kind of that group. Nil: any.
	Group *int64
	Query Query
	// Hidden is what text in Query, alone or as args:text, does not find. For paths
	// see CheckPaths.
	Hidden Hidden
	AsOf   time.Time // the now of ages in Query; zero: the database's now
	After  Cursor    // of the page before; zero for the first page
	Limit  int       // rows a page; 0 or less means 50, more than 500 means 500
}

// Jobs reads one page of the jobs in one state. Enqueued jobs come by ready_at,
// scheduled ones by run_at, processing ones by start, awaiting ones by
// enqueue, oldest first; failed,
// succeeded and deleted ones newest first; equal times by id.
//
// next continues the list and is zero after the last page. A page of succeeded
// or deleted jobs may be short, even empty, while next is not zero: each call
// looks at about 10,000 history rows at most, so that a rare queue among millions
// of jobs costs more pages, not a slow one. With a Query that holds for every
// state, and the bound is one of time.
//
// ErrBadCursor when After belongs to another state's list.
func (db *DB) Jobs(ctx context.Context, f JobFilter) (rows []JobRow, next Cursor, err error) {
	if err := f.check(); err != nil {
		return nil, Cursor{}, err
	}
	at, id, err := f.After.after(f.State)
	if err != nil || f.impossible() {
		return nil, Cursor{}, err
	}
	limit := f.limit()
	if !f.Query.IsZero() {
		return db.search(ctx, f, at, id, limit)
	}
	if f.State == Succeeded || f.State == Deleted {
		return db.finished(ctx, f, id, limit)
	}
	text, args := db.hotStatement(f, at, id, limit+1)
	if err := db.SelectContext(ctx, &rows, text, args...); err != nil {
		return nil, Cursor{}, fmt.Errorf("list %s jobs: %w", f.State, err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursorAt(rows[limit-1])
	}
	return rows, next, nil
}

func (f JobFilter) limit() int {
	if f.Limit <= 0 {
		return 50
	}
	return min(f.Limit, 500)
}

func (f JobFilter) check() error {
	if !slices.Contains(States, f.State) {
		return fmt.Errorf("job filter: unknown %s", f.State)
	}
	if f.Cause != 0 && f.State != Scheduled {
		return fmt.Errorf("job filter: cause is known of scheduled jobs only, not of %s ones", f.State)
	}
	if f.Group != nil && (f.State != Failed || f.Kind == "") {
		return fmt.Errorf("job filter: a group is one of failed jobs of one kind")
	}
	return nil
}

// impossible: text that no column can hold matches no job; as a parameter
// Postgres would refuse it (22021).
func (f JobFilter) impossible() bool {
	for _, text := range []string{f.Queue, f.Kind} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return true
		}
	}
	return false
}
