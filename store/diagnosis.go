package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Diagnosis is what the server says about itself, for a person who looks for what
// is wrong. It needs no schema.
type Diagnosis struct {
	Version  string    `db:"version"`   // of Postgres: "17.5"
	Now      time.Time `db:"now"`       // the server's clock
	Replica  bool      `db:"replica"`   // it follows another server and takes no writes
	ReadOnly bool      `db:"read_only"` // transactions take no writes, on a replica or by a setting
	// Autovacuum: it runs at all. TrackCounts: it knows what to do.
	Autovacuum     bool `db:"autovacuum"`
	TrackCounts    bool `db:"track_counts"`
	Connections    int  `db:"connections"` // of clients, to all databases
	MaxConnections int  `db:"max_connections"`
	// Hidden counts sessions of this database whose transactions this user may not see.
	Hidden int               `db:"hidden"`
	Tables []TableVacuum     `db:"-"`
	Open   []OpenTransaction `db:"-"` // oldest first, at most 20
}

// TableVacuum is how vacuum treats one table whose rows turn over all the time.
type TableVacuum struct {
	Table     string     `db:"name"`
	Off       bool       `db:"off"`       // autovacuum passes it by
	Threshold int64      `db:"threshold"` // dead rows after which it comes; 0: the table has no setting of its own
	Dead      int64      `db:"dead"`
	Vacuumed  *time.Time `db:"vacuumed"`
}

// OpenTransaction is one that has been open for long. While it is, no vacuum removes
// a row that died after it began.
type OpenTransaction struct {
	PID         int       `db:"pid"` // 0: a prepared transaction
	Application string    `db:"application"`
	User        string    `db:"person"`
	State       string    `db:"state"` // as pg_stat_activity; "prepared"
	Since       time.Time `db:"since"`
}

const serverSays = `select current_setting('server_version') as version, clock_timestamp() as now, pg_is_in_recovery() as replica,
  current_setting('transaction_read_only')::boolean as read_only, current_setting('autovacuum')::boolean as autovacuum,
  current_setting('track_counts')::boolean as track_counts, current_setting('max_connections')::int as max_connections,
  (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
  (select count(*) from pg_stat_activity where datname = current_database() and backend_type is null) as hidden`

// hotTables turn over completely; see the migrations for their settings.
var hotTables = []string{"awaiting", "failed", "ready", "running", "scheduled"}

const tableVacuum = `select c.relname as name, coalesce('autovacuum_enabled=false' = any(c.reloptions) or 'autovacuum_enabled=off' = any(c.reloptions), false) as off,
  coalesce((select split_part(o, '=', 2)::bigint from unnest(c.reloptions) o where o like 'autovacuum_vacuum_threshold=%'), 0) as threshold,
  coalesce(s.n_dead_tup, 0) as dead, greatest(s.last_vacuum, s.last_autovacuum) as vacuumed
from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_stat_user_tables s on s.relid = c.oid
where n.nspname = $1 and c.relname = any($2::text[]) and c.relkind = 'r' order by c.relname`

const openTransactions = `select * from (
  select pid, coalesce(application_name, '') as application, coalesce(usename, '') as person, coalesce(state, '') as state, xact_start as since
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
    and xact_start < clock_timestamp() - $1::bigint * interval '1 microsecond'
  union all
  select 0, gid, owner, 'prepared', prepared from pg_prepared_xacts
  where database = current_database() and prepared < clock_timestamp() - $1::bigint * interval '1 microsecond') o
order by since limit 20`

// Diagnose asks the server about itself, and for transactions that have been open
// for longer than long.
func (db *DB) Diagnose(ctx context.Context, long time.Duration) (d Diagnosis, err error) {
	// Outside of the snapshot, which is read-only by itself.
	if err := db.GetContext(ctx, &d, serverSays); err != nil {
		return d, fmt.Errorf("ask the server about itself: %w", err)
	}
	err = db.snapshot(ctx, func(tx *sqlx.Tx) error {
		if err := tx.SelectContext(ctx, &d.Tables, tableVacuum, db.Schema(), pq.Array(hotTables)); err != nil {
			return err
		}
		return tx.SelectContext(ctx, &d.Open, openTransactions, long.Microseconds())
	})
	if err != nil {
		return Diagnosis{}, fmt.Errorf("diagnose the server: %w", err)
	}
	return d, nil
}

// Clock is the database's clock now.
func (db *DB) Clock(ctx context.Context) (now time.Time, err error) {
	if err = db.GetContext(ctx, &now, `select clock_timestamp()`); err != nil {
		return now, fmt.Errorf("ask the database for the time: %w", err)
	}
	return now, nil
}
