package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

const reserveEffect = `insert into tekrar.effect_claims as c (key, state, fingerprint, holder, stale_at, stale_us)
values ($1, 7, nullif($2, ''), $3, clock_timestamp(), 0) on conflict (key) do nothing returning c.key`

// ReserveEffect makes a claim that is nobody's yet. fresh: it was made here.
// Else row is what was there.
func (db *DB) ReserveEffect(ctx context.Context, q Querier, key, fingerprint, holder string) (row Effect, fresh bool, err error) {
	for range 5 {
		err = db.onEffects(ctx, q, reserveEffect, func(r *sql.Rows) error {
			fresh = true
			return r.Scan(&row.Key)
		}, key, fingerprint, holder)
		if err != nil || fresh {
			break
		}
		found := false
		if row, found, err = db.oneEffect(ctx, q, `select `+effectColumns+` from tekrar.effect_claims c where c.key = $1`, key); err != nil || found {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("reserve effect claim: %w", err)
	}
	return row, fresh, err
}

// UserRow is a row of a user's table; the first KeyColumns columns are those of a
// unique index.
type UserRow struct {
	Table      string
	Columns    []string
	Values     []any
	KeyColumns int
}

// ClaimRow inserts the row unless one with its key is there, waiting for other
// transactions that insert it.
func (db *DB) ClaimRow(ctx context.Context, tx Querier, row UserRow) (fresh bool, err error) {
	columns, places := make([]string, len(row.Columns)), make([]string, len(row.Columns))
	for i, name := range row.Columns {
		columns[i], places[i] = pq.QuoteIdentifier(name), "$"+strconv.Itoa(i+1)
	}
	text := fmt.Sprintf("insert into %s (%s) values (%s) on conflict (%s) do nothing", quoteTable(row.Table),
		strings.Join(columns, ", "), strings.Join(places, ", "), strings.Join(columns[:row.KeyColumns], ", "))
	result, err := tx.ExecContext(ctx, text, row.Values...)
	if err != nil {
		return false, fmt.Errorf("claim a row of %s: %w", row.Table, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// quoteTable quotes schema and table.
func quoteTable(name string) string {
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		return pq.QuoteIdentifier(name)
	}
	return pq.QuoteIdentifier(schema) + "." + pq.QuoteIdentifier(table)
}
