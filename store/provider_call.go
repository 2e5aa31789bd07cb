package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// ProviderCall is one request to an outside provider. Bodies are never kept.
type ProviderCall struct {
	Provider string
	Key      string // as the program knows it
	SentKey  string // as the provider got it, without quotes; "" if it got none
	Payload  string // hash of method, address and body
	JobID    int64  // 0: made outside a job
	Attempt  int

	// What follows is known after the call.
	Status    int    // 0: no answer
	Outcome   string // "delivered", "refused", "unknown", "in_flight" or "key_reused"
	Replayed  bool
	Reference string // of the effect at the provider
	Error     string // one line; "" if there is none
	Duration  time.Duration
}

const beginCall = `insert into tekrar.provider_calls (provider, key, sent_key, payload, job_id, attempt)
values ($1, $2, $3, $4, nullif($5::bigint, 0), nullif($6::integer, 0)) returning id`

// BeginCall writes the row of a call that is about to be made and gives its id.
func (db *DB) BeginCall(ctx context.Context, c ProviderCall) (id int64, err error) {
	err = db.Tx(ctx, func(tx *sqlx.Tx) error {
		return tx.QueryRowContext(ctx, db.sql(beginCall), c.Provider, c.Key, c.SentKey, c.Payload, c.JobID, c.Attempt).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("record call of %s: %w", c.Provider, err)
	}
	return id, nil
}

const endCall = `update tekrar.provider_calls set ended_at = clock_timestamp(), duration_us = $2,
       status = nullif($3::smallint, 0::smallint), outcome = $4, replayed = $5, reference = nullif($6, ''), error = nullif($7, '')
where id = $1 and ended_at is null`

// EndCall completes the row. Repeating it changes nothing.
func (db *DB) EndCall(ctx context.Context, id int64, c ProviderCall) error {
	err := db.txRetry(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, db.sql(endCall), id, c.Duration.Microseconds(), c.Status, c.Outcome, c.Replayed, c.Reference, c.Error)
		return err
	})
	if err != nil {
		return fmt.Errorf("record answer of %s: %w", c.Provider, err)
	}
	return nil
}
