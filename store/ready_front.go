package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/lib/pq"
)

const (
	// frontLag is how far before the first waiting job pages look all the same: rows of
	// transactions that commit later than others lie there.
	frontLag = 2 * time.Second
	// A lane in which nothing waits is kept that long: a job may come at any time, and
	// the next look that would find its lane may be seconds away.
	lanesKept = time.Hour
)

// readyFront is where the jobs of each lane begin. Claims remember the same.
type readyFront map[laneName]laneFront

type laneName struct {
	queue    string
	priority int16
}

type laneFront struct {
	after time.Time // no job waits before, but for what commits late
	seen  time.Time // when one waited last
}

// lanes are the parameters of knownLanes.
func (f readyFront) lanes() []any {
	queues, priorities, after := make([]string, 0, len(f)), make([]int64, 0, len(f)), make([]time.Time, 0, len(f))
	for l, front := range f {
		queues, priorities, after = append(queues, l.queue), append(priorities, int64(l.priority)), append(after, front.after.Add(-frontLag))
	}
	return []any{pq.Array(queues), pq.Array(priorities), pq.Array(after)}
}

// The clock and the number of dead rows come alone when nothing waits.
const frontLook = `
with recursive` + walkedLanes + `
select coalesce(l.queue, ''), coalesce(l.priority, 0), l.after, statement_timestamp(), ` + deadRows + `
from (values (1)) one left join lane l on true`

func (db *DB) lookForFront(ctx context.Context) (readyFront, error) {
	rows, err := db.QueryContext(ctx, db.sql(frontLook), "")
	if err != nil {
		return nil, err
	}
	var at time.Time
	front := readyFront{}
	err = scanAll(rows, func(rows *sql.Rows) error {
		var l laneName
		var after *time.Time
		var dead int64
		if err := rows.Scan(&l.queue, &l.priority, &after, &at, &dead); err != nil {
			return err
		}
		db.bloat.dead.Store(dead)
		if after != nil {
			front[l] = laneFront{after: *after, seen: at}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for l, was := range db.bloat.front.remembered() {
		if _, waits := front[l]; !waits && at.Sub(was.seen) < lanesKept {
			front[l] = laneFront{after: at, seen: was.seen}
		}
	}
	return front, nil
}
