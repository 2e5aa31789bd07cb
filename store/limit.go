package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Limit is how many jobs of a queue or of a kind run at once on all servers
// together.
type Limit struct {
	Scope   LimitScope
	Name    string
	Running int
}

// LimitScope says what a Limit counts.
type LimitScope int16

// The scopes of a limit.
const (
	LimitQueue LimitScope = 1
	LimitKind  LimitScope = 2
)

// SaveLimits writes the limits that this server knows; those that claims lock
// have to be there.
func (db *DB) SaveLimits(ctx context.Context, limits []Limit) error {
	for _, l := range limits {
		err := db.beat(ctx, `insert into tekrar.limits (scope, name, running) values ($1, $2, $3)
on conflict (scope, name) do update set running = excluded.running returning name`,
			func(*sql.Rows) error { return nil }, int64(l.Scope), l.Name, l.Running)
		if err != nil {
			return fmt.Errorf("save limit of %q: %w", l.Name, err)
		}
	}
	return nil
}

// ClaimLimited is Claim for jobs that count against limits. The limits' rows are
// locked first, and what runs is counted by a later statement, which sees all
// that earlier holders of the lock claimed. A lock that another server holds is
// not waited for: it is claiming the same jobs now. Jobs that have to wait stay
// ready: no worker is held and no history written.
func (db *DB) ClaimLimited(ctx context.Context, server int64, limits []Limit, lanes []Lane, kinds []string, room int) (claimed []Claimed, err error) {
	err = db.Tx(ctx, db.briefly(ctx, func(tx *sqlx.Tx) error {
		free, err := db.freeWithin(ctx, tx, limits, room)
		if err != nil || free <= 0 {
			return err
		}
		rows, err := tx.QueryContext(ctx, db.sql(claimStatement), claimArgs(server, lanes, kinds, free)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scanClaimed(rows, &claimed); err != nil {
				return err
			}
		}
		return rows.Err()
	}))
	if err != nil {
		return nil, fmt.Errorf("claim limited jobs: %w", err)
	}
	return claimed, nil
}

// freeWithin locks the limits and returns how many more jobs fit under all of them.
func (db *DB) freeWithin(ctx context.Context, tx *sqlx.Tx, limits []Limit, room int) (int, error) {
	scopes, names := make([]int64, len(limits)), make([]string, len(limits))
	for i, l := range limits {
		scopes[i], names[i] = int64(l.Scope), l.Name
	}
	var locked []string
	if err := tx.SelectContext(ctx, &locked, db.sql(`select l.name from tekrar.limits l
join unnest($1::smallint[], $2::text[]) as w(scope, name) on l.scope = w.scope and l.name = w.name
order by l.scope, l.name for update of l skip locked`), pq.Array(scopes), pq.Array(names)); err != nil {
		return 0, err
	}
	if len(locked) < len(limits) {
		return 0, nil
	}
	db.reach("claim: limits locked")
	for _, l := range limits {
		column := "kind"
		if l.Scope == LimitQueue {
			column = "queue"
		}
		var running int
		if err := tx.GetContext(ctx, &running, db.sql(`select count(*) from tekrar.running where `+column+` = $1`), l.Name); err != nil {
			return 0, err
		}
		room = min(room, l.Running-running)
	}
	return room, nil
}
