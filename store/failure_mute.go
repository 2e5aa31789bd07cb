package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// MuteFailures keeps a group of failures out of what asks for attention: jobs that
// fail the same way later too. A group muted already keeps its first time and person.
func (db *DB) MuteFailures(ctx context.Context, actor, kind string, fingerprint int64) error {
	return db.setMute(ctx, "mute failures", `insert into tekrar.failure_mutes (kind, fingerprint, muted_by) values ($1, $2, $3)
on conflict (kind, fingerprint) do nothing`, actor, kind, fingerprint)
}

// UnmuteFailures undoes MuteFailures.
func (db *DB) UnmuteFailures(ctx context.Context, actor, kind string, fingerprint int64) error {
	return db.setMute(ctx, "unmute failures", `delete from tekrar.failure_mutes where kind = $1 and fingerprint = $2 and $3::text is not null`, actor, kind, fingerprint)
}

func (db *DB) setMute(ctx context.Context, action, text, actor, kind string, fingerprint int64) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		done, err := tx.ExecContext(ctx, db.sql(text), kind, fingerprint, actor)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, db.sql(`insert into tekrar.audit (actor, action, detail)
values ($1, $2, jsonb_build_object('kind', $3::text, 'group', $4::text, 'filter', jsonb_build_object('state', 'failed', 'kind', $3::text, 'group', $4::text),
  'n', `+fmt.Sprintf(groupCount, "$3", "$5")+`))`), actor, action, kind, GroupName(fingerprint), fingerprint)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s of kind %q: %w", action, kind, err)
	}
	return nil
}

// GroupName is a fingerprint as addresses and screens spell it: 16 hexadecimal digits.
func GroupName(fingerprint int64) string { return fmt.Sprintf("%016x", uint64(fingerprint)) }

// ParseGroup reads what GroupName wrote.
func ParseGroup(text string) (int64, error) {
	var n uint64
	if _, err := fmt.Sscanf(text, "%016x", &n); err != nil || GroupName(int64(n)) != text {
		return 0, errors.New("is no group of failures: 16 hexadecimal digits")
	}
	return int64(n), nil
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
