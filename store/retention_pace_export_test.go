package store

import (
	"context"
	"time"
)

// ExpirePause is the rest after a chunk that took so long, of a removal that began before; it returns how long it was.
func ExpirePause(ctx context.Context, db *DB, took, before time.Duration) (time.Duration, error) {
	began := time.Now()
	err := db.expirePause(ctx, took, before)
	return time.Since(began), err
}

// ExpirePauseOf is how long that rest should be, and ExpireRest the longest.
var ExpirePauseOf = expirePauseOf

const ExpireRest = expireRest
