package store

import (
	"context"
	"errors"
	"time"
)

const (
	// expireShare is the part of one connection's time that retention takes while
	// jobs run: after each chunk it rests for four times as long as that took. On a
	// server whose cores the jobs have all, a job removed costs about as much as one
	// run. At a fifth it removed 2,600 jobs a second on two busy cores, which kept 0.93
	// of their rate.
	expireShare = 0.2
	// expireLate: who has not come to the end for that long removes more slowly than
	// jobs finish, and takes half of the time from then on.
	expireLate      = time.Hour
	expireLateShare = 0.5
	// expireRest bounds one rest, whatever held the chunk up.
	expireRest = 2 * time.Second
	// expireBusy: with fewer outcomes than these in this minute and the last one,
	// 50 to 100 a second, nothing rests.
	expireBusy = 6_000

	// Statistics tell it at the cost of some rows; whether a job is enqueued or
	// running takes a walk over those that no longer are.
	outcomesLately = `select coalesce(sum(n), 0)::bigint from tekrar.stats where minute >= date_trunc('minute', clock_timestamp()) - interval '1 minute'`

	expireAlone = `select pg_try_advisory_xact_lock(hashtext('tekrar.retention'), hashtext($1))`
)

// errExpiring: another process is removing at this moment.
var errExpiring = errors.New("another process removes finished jobs")

// expirePause rests after a chunk of a removal that began before, if jobs run that it
// would slow down.
func (db *DB) expirePause(ctx context.Context, took, before time.Duration) error {
	var n int64
	if err := db.GetContext(ctx, &n, db.sql(outcomesLately)); err != nil || n < expireBusy {
		return err
	}
	select {
	case <-time.After(expirePauseOf(took, before)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func expirePauseOf(took, before time.Duration) time.Duration {
	share := expireShare
	if before > expireLate {
		share = expireLateShare
	}
	return min(time.Duration(float64(took)*(1/share-1)), expireRest)
}
