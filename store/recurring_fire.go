package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Due is a recurring job that the scheduler has to look at now.
type Due struct {
	RecurringRow
	// Unfinished is one of its jobs that is enqueued, scheduled or processing; 0
	// when there is none. Not looked up where jobs may overlap.
	Unfinished int64
	// Refused is why the database did not take the fires that were decided before;
	// nothing but the error can be stored.
	Refused error
}

// Firing is what becomes of one due recurring job.
type Firing struct {
	ID    string
	Fires []Fire
	// NextRun, LastFire, Waiting and LookAgain are what the row holds from here
	// on; zero: null.
	NextRun, LastFire, Waiting, LookAgain time.Time
	Error                                 string
	Failures                              int
}

// Fire is one due time and what becomes of it.
type Fire struct {
	At      time.Time
	Outcome FireOutcome
	Job     NewJob // with FireEnqueued only
	Note    string
}

// Fired is what a look at the due recurring jobs did.
type Fired struct {
	Rows   int     // recurring jobs that were due
	IDs    []int64 // jobs that were made
	Queues []string
	// Refused are recurring jobs whose fire the database did not take.
	Refused []string
}

// ErrFireTaken: a fire of that time is there already; no second job is made.
var ErrFireTaken = errors.New("a fire of this time was made before")

// maxDue bounds the recurring jobs of one transaction.
const maxDue = 20

const takeDue = `with instant as materialized (select clock_timestamp() as t)
select (select t from instant) as now, ` + recurringColumns + `
from tekrar.recurring r
where r.due_at <= (select t from instant) and r.paused_at is null and r.removed_at is null
order by r.due_at limit $1 for update of r skip locked`

const nextDue = `select (extract(epoch from r.due_at - clock_timestamp()) * 1000000)::bigint
from tekrar.recurring r where r.paused_at is null and r.removed_at is null order by r.due_at limit 1`

// NextDue is the time until a recurring job is due, by the database's clock: 0
// when one is due now, negative when none will be.
func (db *DB) NextDue(ctx context.Context) (in time.Duration, err error) {
	text, us := db.sql(nextDue), sql.NullInt64{}
	err = db.firers().with(ctx, func(s *session) error {
		return s.query(ctx, text, func(r *sql.Rows) error { return r.Scan(&us) })
	})
	if err != nil {
		return 0, fmt.Errorf("look for due recurring jobs: %w", err)
	}
	if !us.Valid {
		return -1, nil
	}
	return max(0, time.Duration(us.Int64)*time.Microsecond), nil
}

// FireDue fires what is due, up to 20 recurring jobs, in one transaction: decide
// gets the locked rows and the database's now, and what it answers is written.
// Rows that another process is firing are left to it. A row that the database
// refuses keeps its error and is looked at later; the others fire all the same.
func (db *DB) FireDue(ctx context.Context, decide func(now time.Time, due []Due) []Firing) (f Fired, err error) {
	f, _, err = db.fire(ctx, maxDue, decide)
	if !refused(err) {
		return f, err
	}
	for range maxDue { // one by one, to find which
		one, due, err := db.fire(ctx, 1, decide)
		if refused(err) {
			f.Refused = append(f.Refused, due[0].ID)
			one, _, err = db.fire(ctx, 1, func(now time.Time, again []Due) []Firing {
				if again[0].ID == due[0].ID {
					again[0].Refused = err
				}
				return decide(now, again)
			})
		}
		if err != nil || one.Rows == 0 {
			return f, err
		}
		f.Rows++
		f.IDs, f.Queues = append(f.IDs, one.IDs...), append(f.Queues, one.Queues...)
	}
	return f, nil
}

func refused(err error) bool { return IsData(err) || errors.Is(err, ErrFireTaken) }

func (db *DB) fire(ctx context.Context, limit int, decide func(time.Time, []Due) []Firing) (f Fired, due []Due, err error) {
	err = db.firers().with(ctx, func(s *session) error {
		return s.tx(ctx, db.Mapper, db.briefly(ctx, func(tx *sqlx.Tx) error {
			var rows []struct {
				Now time.Time `db:"now"`
				RecurringRow
			}
			if err := tx.SelectContext(ctx, &rows, db.sql(takeDue), limit); err != nil || len(rows) == 0 {
				return err
			}
			due = make([]Due, len(rows))
			for i := range rows {
				due[i].RecurringRow = rows[i].RecurringRow
				due[i].normal()
			}
			if err := db.findUnfinished(ctx, tx, due); err != nil {
				return err
			}
			db.reach("fire: due read")
			f.Rows = len(due)
			return db.writeFirings(ctx, tx, decide(rows[0].Now.UTC(), due), &f)
		}))
	})
	if err != nil {
		return Fired{}, due, fmt.Errorf("fire recurring jobs: %w", err)
	}
	return f, due, nil
}

// findUnfinished is a statement of its own, so that its snapshot is younger than
// the lock. It looks at the newest 100 jobs: older ones count no more.
func (db *DB) findUnfinished(ctx context.Context, tx *sqlx.Tx, due []Due) error {
	var ids []string
	at := map[string]*Due{}
	for i := range due {
		if d := &due[i]; d.Overlap != "allow" || d.WaitingFire != nil {
			ids, at[d.ID] = append(ids, d.ID), d
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := tx.QueryContext(ctx, db.sql(unfinished), pq.Array(ids))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var job int64
		if err := rows.Scan(&id, &job); err != nil {
			return err
		}
		at[id].Unfinished = job
	}
	return rows.Err()
}

// Scalar subqueries, since an exists may become a hash of the whole hot table.
const unfinished = `select u.id, j.job_id from unnest($1::text[]) u(id) cross join lateral (
  select f.job_id from (
    select job_id, fire_at from tekrar.recurring_fires where recurring_id = u.id and job_id is not null order by fire_at desc limit 100) f
  where (select 1 from tekrar.ready h where h.job_id = f.job_id limit 1) is not null
     or (select 1 from tekrar.running h where h.job_id = f.job_id limit 1) is not null
     or (select 1 from tekrar.scheduled h where h.job_id = f.job_id limit 1) is not null
  order by f.fire_at desc limit 1) j`
