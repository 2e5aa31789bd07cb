package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// folds are what triggers append as changes: a statement adds the changes up, at most
// $1 of them, and says how many; another removes the sums of zero, which say nothing.
// The name is that of the lock.
var folds = []struct{ name, add, tidy string }{
	{"failures", failuresFolded, emptyGroups},
	{"scheduled", scheduledFolded, emptyScheduled},
}

const foldMax = 50_000 // changes folded in one transaction

// kept is the sum of what was folded and what was not yet. Both are read by one
// statement, so that a fold meanwhile changes nothing.
func kept(sums, changes, which string) string {
	return fmt.Sprintf(`((select coalesce(sum(n), 0) from tekrar.%s where %[3]s) + (select coalesce(sum(n), 0) from tekrar.%[2]s where %[3]s))::bigint`,
		sums, changes, which)
}

// FoldCounts adds up what has changed of failed and scheduled jobs since the last time,
// so that pages read a row a group and not a row a change. One process works at a time,
// the others return at once. Nothing depends on it but the time that pages take.
func (db *DB) FoldCounts(ctx context.Context) error {
	var errs []error
	for _, f := range folds {
		if err := db.fold(ctx, f.name, f.add, f.tidy); err != nil {
			errs = append(errs, fmt.Errorf("fold counts of %s: %w", f.name, err))
		}
	}
	return errors.Join(errs...)
}

func (db *DB) fold(ctx context.Context, name, add, tidy string) error {
	for n := foldMax; n == foldMax; {
		err := db.txRetry(ctx, func(tx *sqlx.Tx) (err error) {
			mine := false
			n = 0
			if err := tx.GetContext(ctx, &mine, `select pg_try_advisory_xact_lock(hashtext('tekrar.' || $1::text), hashtext($2))`, name, db.Schema()); err != nil || !mine {
				return err
			}
			if err := tx.GetContext(ctx, &n, db.sql(add), foldMax); err != nil || n == 0 {
				return err
			}
			_, err = tx.ExecContext(ctx, db.sql(tidy))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
