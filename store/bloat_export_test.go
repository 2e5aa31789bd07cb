package store

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Economize makes db economize from so many dead rows, and remember for long.
func Economize(db *DB, from int64) {
	db.bloat.from, db.bloat.front.least, db.bloat.held.least = from, time.Hour, time.Hour
}

// Economizes says whether it does.
func Economizes(db *DB) bool { return db.bloat.much() }

// Forget makes the next pages look again; lanes that were known stay known.
func Forget(db *DB) {
	db.bloat.front.forget()
	db.bloat.held.forget()
}

func (f *frugal[T]) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.until = time.Time{}, time.Time{}
}

var sharedHit = regexp.MustCompile(`Buffers: shared hit=(\d+)`)

// EnqueuedBlocks is how many blocks a page of enqueued jobs looks at.
func EnqueuedBlocks(ctx context.Context, db *DB) (int, error) {
	f := JobFilter{State: Enqueued}
	at, id, err := f.After.after(f.State)
	if err != nil {
		return 0, err
	}
	text, args, err := db.hotStatement(ctx, f, at, id, 51)
	if err != nil {
		return 0, err
	}
	var plan []string
	if err := db.SelectContext(ctx, &plan, "explain (analyze, buffers, costs off, timing off) "+text, args...); err != nil {
		return 0, err
	}
	m := sharedHit.FindStringSubmatch(strings.Join(plan, "\n"))
	if m == nil {
		return 0, fmt.Errorf("no blocks in %q", plan)
	}
	return strconv.Atoi(m[1])
}

// Frugal is frugal for tests.
type Frugal[T any] struct{ frugal[T] }

// Get is get.
func (f *Frugal[T]) Get(ctx, life context.Context, look func(context.Context) (T, error)) (T, error) {
	return f.get(ctx, life, look)
}
