package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

var reclaimHead = `taken as (
delete from tekrar.running where ctid = any(array(
  select ctid from tekrar.running where server = $2 limit 1000 for update skip locked))
returning job_id, started_at, attempt, retry, snoozes, losses + 1 as lost, priority, queue, kind,
  cancel_requested_at as cancel_at, cancel_requested_by as cancel_by
), ` + moved("taken", map[string]string{
	"losses": "least(s.lost, 32767)::smallint", // a row that is there already must not fail the sweep
	"server": "$2::bigint",
	"state":  "case when s.cancel_at is not null then 6::smallint when s.lost > $3 then 5::smallint else 2::smallint end",
	"reason": "case when s.cancel_at is not null then " + cancelReason + " when s.lost > $3 then 'Server ' || $4 || ' lost, lost ' || s.lost || ' times' else 'Server ' || $4 || ' lost' end",
	"data": "case when s.cancel_at is not null then " + cancelRule + " || " + cancelAsked + " when s.lost > $3 then jsonb_build_object('rule', 'lost ' || s.lost || ' times, the limit is ' || $3," +
		" 'error_type', 'server lost', 'error', 'lost ' || s.lost || ' times: the server ended before the job did') end",
	"duration_us": "null::bigint",
	"error_type":  "'server lost'",
	"error_line":  "'lost ' || s.lost || ' times'",
	"outcome":     "case when s.cancel_at is null then 8::smallint else 9::smallint end",
	"bucket":      "0::smallint",
})

var reclaimStatement = transition(reclaimHead, toReady|toFailed|counted, `select job_id, queue from moved`)

// Reclaimed is what a sweep took over.
type Reclaimed struct {
	Servers []string // names of the servers found lost
	IDs     []int64
	Queues  []string
}

// Reclaim looks for servers whose lease has ended, marks them lost and takes
// over their jobs in the same transaction; it also takes jobs that a lost,
// stopped or unknown server still holds (a frozen process may claim once more
// after it was declared lost). A job whose losses pass lossLimit goes to failed, one whose
// cancel was requested to deleted.
// by is the server that sweeps: its statistics count the losses, and it does
// not find itself lost, since it is there to renew its lease.
//
// After an outage, a read-only primary included, it is not tried again here: all
// leases may have ended meanwhile, and the caller has to give those who are well the
// time to renew theirs.
func (db *DB) Reclaim(ctx context.Context, by int64, lossLimit int) (all Reclaimed, err error) {
	err = db.txRetryOn(ctx, isConflict, func(tx *sqlx.Tx) error {
		all = Reclaimed{}
		var lost []struct {
			ID   int64  `db:"id"`
			Name string `db:"name"`
		}
		// The condition is tested again by the update: a server that renewed
		// between read and write keeps its jobs.
		if err := tx.SelectContext(ctx, &lost, db.sql(`select id, name from tekrar.servers
where id <> $1 and stopped_at is null and lost_at is null and lease_until < clock_timestamp() order by id limit 20`), by); err != nil {
			return err
		}
		db.reach("reclaim: expired servers read")
		for _, s := range lost {
			r, err := tx.ExecContext(ctx, db.sql(`update tekrar.servers set lost_at = clock_timestamp()
where id = $1 and stopped_at is null and lost_at is null and lease_until < clock_timestamp()`), s.ID)
			if err != nil {
				return err
			}
			if n, _ := r.RowsAffected(); n > 0 {
				all.Servers = append(all.Servers, s.Name)
			}
		}
		var orphans []struct {
			ID   int64  `db:"server"`
			Name string `db:"name"`
		}
		if err := tx.SelectContext(ctx, &orphans, db.sql(orphanServers)); err != nil {
			return err
		}
		for _, s := range orphans {
			if err := db.reclaimFrom(ctx, tx, by, s.ID, s.Name, lossLimit, &all); err != nil {
				return err
			}
		}
		db.reach("reclaim: jobs taken")
		return nil
	})
	if err != nil {
		return Reclaimed{}, fmt.Errorf("reclaim jobs of lost servers: %w", err)
	}
	return all, nil
}

// One walk through running, whatever the number of dead rows in it, and then a look for
// each server.
const orphanServers = `with held as materialized (select server from tekrar.running group by server)
select r.server, coalesce(s.name, '#' || r.server) as name
from held r left join lateral (select * from tekrar.servers where id = r.server offset 0) s on true
where s.id is null or s.lost_at is not null or s.stopped_at is not null`

func (db *DB) reclaimFrom(ctx context.Context, tx *sqlx.Tx, by, server int64, name string, lossLimit int, all *Reclaimed) error {
	for {
		var rows []struct {
			ID    int64  `db:"job_id"`
			Queue string `db:"queue"`
		}
		if err := tx.SelectContext(ctx, &rows, db.sql(reclaimStatement), by, server, lossLimit, name); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, r := range rows {
			all.IDs = append(all.IDs, r.ID)
			if !seen[r.Queue] {
				seen[r.Queue] = true
				all.Queues = append(all.Queues, r.Queue)
			}
		}
		if len(rows) == 0 {
			return nil
		}
	}
}

// PruneServers removes rows of servers that ended longer than keep ago and hold
// no job; history then shows their number.
func (db *DB) PruneServers(ctx context.Context, keep time.Duration) error {
	return db.Tx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, db.sql(`delete from tekrar.servers s
where coalesce(stopped_at, lost_at) < clock_timestamp() - $1 * interval '1 microsecond'
  and not exists (select 1 from tekrar.running r where r.server = s.id)`), keep.Microseconds())
		return err
	})
}
