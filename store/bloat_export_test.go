package store

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Economize makes db economize from so many dead rows, and remember for long.
func Economize(db *DB, from int64) {
	db.bloat.from, db.bloat.front.least, db.bloat.held.least = from, time.Hour, time.Hour
}

// Economizes says whether it does: whether it remembers, too.
func Economizes(db *DB) bool {
	if !db.bloat.much() {
		return false
	}
	_, front := db.bloat.front.get(db.life, db.lookForFront)
	_, held := db.bloat.held.get(db.life, db.lookForHeld)
	return front && held
}

// LookAgain makes db look again, and returns when what it found is remembered; lanes
// that were known stay known.
func LookAgain(db *DB) {
	db.bloat.front.forget()
	db.bloat.held.forget()
	for !Economizes(db) {
		runtime.Gosched()
	}
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
	text, args := db.hotStatement(f, at, id, 51)
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
func (f *Frugal[T]) Get(life context.Context, look func(context.Context) (T, error)) (T, bool) {
	return f.get(life, look)
}
