package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// The oldest rows are looked at, not the old ones looked for: without any the
// statement reads one chunk of the primary key and no more.
const expireCalls = `delete from tekrar.provider_calls where id = any(array(
  select id from (select id, at from tekrar.provider_calls order by id limit $2) oldest
  where at < clock_timestamp() - $1 * interval '1 microsecond'))`

// ExpireProviderCalls removes calls older than keep, in chunks, until none is left or
// ctx ends. It returns how many went; repeating it is harmless.
func (db *DB) ExpireProviderCalls(ctx context.Context, keep time.Duration) (n int64, err error) {
	for {
		var chunk int64
		err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
			r, err := tx.ExecContext(ctx, db.sql(expireCalls), keep.Microseconds(), expireChunk)
			if err != nil {
				return err
			}
			chunk, err = r.RowsAffected()
			return err
		})
		if err != nil {
			return n, fmt.Errorf("expire provider calls: %w", err)
		}
		if n += chunk; chunk < expireChunk {
			return n, nil
		}
	}
}
