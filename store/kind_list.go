package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// KindRow is what servers published about a kind of job.
type KindRow struct {
	Kind       string          `db:"kind"`
	Queue      string          `db:"queue"` // where its jobs go unless the enqueuer says otherwise
	MaxRetries int             `db:"max_retries"`
	Policy     json.RawMessage `db:"policy"`
	TimeoutMS  *int64          `db:"timeout_ms"` // nil: none
	SeenAt     time.Time       `db:"seen_at"`    // last published
	Handled    bool            `db:"handled"`    // a live server runs it
}

const kindList = `
select k.kind, k.queue, k.max_retries, k.policy, k.timeout_ms, k.seen_at,
       exists (select 1 from tekrar.servers s where ` + serverIsLive + ` and k.kind = any(s.kinds)) as handled
from tekrar.kinds k order by k.kind`

// Kinds reads every kind that a server has ever published, by name.
func (db *DB) Kinds(ctx context.Context) ([]KindRow, error) {
	var kinds []KindRow
	if err := db.SelectContext(ctx, &kinds, db.sql(kindList)); err != nil {
		return nil, fmt.Errorf("list kinds: %w", err)
	}
	return kinds, nil
}
