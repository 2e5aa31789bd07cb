package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/lib/pq"
)

// bloatedFrom is how many dead rows make pages economize. A vacuum is due from 20,000;
// far more remain only while a long transaction keeps them from being removed.
const bloatedFrom = 50_000

// bloat is what is known of dead rows in ready and running, whose rows come and go with
// every job, and what pages remember instead of walking over them each time: minutes of
// load make hundreds of thousands, and each walk takes a tenth of a second and more.
type bloat struct {
	from  int64 // dead rows from which to economize
	dead  atomic.Int64
	front frugal[readyFront]
	held  frugal[heldJobs]
}

// deadRows is what Postgres knows of the two tables.
const deadRows = `greatest(pg_stat_get_dead_tuples('tekrar.ready'::regclass), pg_stat_get_dead_tuples('tekrar.running'::regclass))`

func (b *bloat) much() bool { return b.dead.Load() >= b.from }

// economical is a statement in two forms: the usual one, and one for many dead rows,
// with what is remembered of them as further parameters.
type economical struct{ usual, bloated string }

// remembered of both tables; statements take the parameters of one or both, in this order.
type remembered uint8

const (
	lanesKnown remembered = 1 << iota // three: see knownLanes
	heldKnown                         // three: see knownHeld
)

// asked gives the form of a statement to run now, and its parameters. What is not
// remembered yet is looked for behind the scenes; until then it is the usual form.
func (db *DB) asked(s economical, what remembered, args ...any) (text string, all []any) {
	if !db.bloat.much() {
		return db.sql(s.usual), args
	}
	all = slices.Clone(args)
	known := true
	if what&lanesKnown != 0 {
		front, ok := db.bloat.front.get(db.life, db.lookForFront)
		all, known = append(all, front.lanes()...), ok
	}
	if what&heldKnown != 0 {
		held, ok := db.bloat.held.get(db.life, db.lookForHeld)
		all, known = append(all, pq.Array(held.servers), pq.Array(held.queues), pq.Array(held.n)), known && ok
	}
	if !known {
		return db.sql(s.usual), args
	}
	return db.sql(s.bloated), all
}

// heldJobs is how many jobs each server runs of each queue. No index could tell it
// without the dead rows, and one more is an insert for every job.
type heldJobs struct {
	servers []int64
	queues  []string
	n       []int64
}

// The number of dead rows comes alone when nothing runs.
const heldLook = `select coalesce(h.server, 0), coalesce(h.queue, ''), coalesce(h.n, 0), ` + deadRows + `
from (values (1)) one left join (select server, queue, count(*) as n from tekrar.running group by server, queue) h on true`

// walkedHeld and knownHeld are the CTE held; knownHeld has the parameters from number p.
const walkedHeld = `held as materialized (select server, queue, count(*) as n from tekrar.running group by server, queue)`

func knownHeld(p int) string {
	return fmt.Sprintf(`held as materialized (
    select k.server, k.queue, k.n
    from rows from (unnest($%d::bigint[]), unnest($%d::text[]), unnest($%d::bigint[])) as k(server, queue, n)
)`, p, p+1, p+2)
}

func (db *DB) lookForHeld(ctx context.Context) (h heldJobs, err error) {
	rows, err := db.QueryContext(ctx, db.sql(heldLook))
	if err != nil {
		return h, err
	}
	err = scanAll(rows, func(rows *sql.Rows) error {
		var server, n, dead int64
		var queue string
		if err := rows.Scan(&server, &queue, &n, &dead); err != nil {
			return err
		}
		db.bloat.dead.Store(dead)
		if n == 0 {
			return nil
		}
		h.servers, h.queues, h.n = append(h.servers, server), append(h.queues, queue), append(h.n, n)
		return nil
	})
	return h, err
}
