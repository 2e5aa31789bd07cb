package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/lib/pq"
)

// jobsChannel carries hints to engines: "q<queue>" jobs were enqueued, "c" a
// running job was taken away, "a<ids>" continuations of these parents were enqueued,
// "w" a dashboard is watching.
func (db *DB) jobsChannel() string { return channelName(db.opts.Schema, "_jobs") }

// changesChannel carries hints to dashboards: comma-separated ids of jobs that
// changed, or "*" for many.
func (db *DB) changesChannel() string { return channelName(db.opts.Schema, "_changes") }

// channelName keeps within the 63 bytes that Postgres takes: with a longer name
// every enqueue that notifies would be refused.
func channelName(schema, of string) string {
	if len(schema)+len(of) <= 63 {
		return schema + of
	}
	sum := sha256.Sum256([]byte(schema))
	return "tekrar_" + hex.EncodeToString(sum[:16]) + of
}

const notifyStatement = `select count(pg_notify($1, p)) from unnest($2::text[]) p`

// NotifyQueues tells engines everywhere that these queues have jobs.
func (db *DB) NotifyQueues(ctx context.Context, queues []string) error {
	payloads := make([]string, len(queues))
	for i, q := range queues {
		payloads[i] = "q" + q
	}
	return db.notify(ctx, db.jobsChannel(), payloads)
}

// NotifyWatching asks engines everywhere to publish changes for a while.
func (db *DB) NotifyWatching(ctx context.Context) error {
	return db.notify(ctx, db.jobsChannel(), []string{"w"})
}

// NotifyChanges tells dashboards which jobs changed; a payload is one list of
// ids or "*".
func (db *DB) NotifyChanges(ctx context.Context, payload string) error {
	return db.notify(ctx, db.changesChannel(), []string{payload})
}

func (db *DB) notify(ctx context.Context, channel string, payloads []string) error {
	err := db.beaters().with(ctx, func(s *session) error {
		return s.query(ctx, notifyStatement, func(*sql.Rows) error { return nil }, channel, pq.Array(payloads))
	})
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}
