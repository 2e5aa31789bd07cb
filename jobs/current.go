package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/store"
)

// AttemptInfo says which attempt a context belongs to. (JobID, Attempt, Server) is
// the token by which the attempt holds its job.
type AttemptInfo struct {
	JobID   int64
	Attempt int
	Server  int64
	Kind    string
	Queue   string
	Args    json.RawMessage
	DB      *DB // where the job is
	// Trace is what Hooks.Enqueuing gave for the job, empty for none.
	Trace string
}

// Current returns the attempt whose handler was called with ctx; false outside of one.
func Current(ctx context.Context) (AttemptInfo, bool) {
	r, ok := ctx.Value(attemptKey{}).(*runningAttempt)
	if !ok {
		return AttemptInfo{}, false
	}
	a := r.a
	return AttemptInfo{JobID: a.ID, Attempt: a.Attempt, Server: a.server, Kind: a.Kind, Queue: a.Queue,
		Args: json.RawMessage(a.Args), DB: r.db, Trace: a.Trace}, true
}

// CompleteTx settles the running attempt as succeeded in the caller's transaction:
// what the handler wrote there and the job's outcome come true together or not at
// all. The handler commits and returns; if the transaction is rolled back, what it
// returns counts as ever. ErrLeaseLost: the attempt no longer holds its job; the
// transaction must be rolled back.
func CompleteTx(ctx context.Context, tx Querier) error {
	r, ok := ctx.Value(attemptKey{}).(*runningAttempt)
	if !ok {
		return errors.New("complete in a transaction: the context is not a handler's")
	}
	s := r.a.settled(r.slot, time.Since(r.began), decision{
		State: store.Succeeded, Outcome: store.OutcomeSucceeded, Next: r.a.counters(),
	})
	refused, err := r.db.SettleTx(ctx, tx, r.a.server, []store.Settled{s.Settled})
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return ErrLeaseLost
	}
	r.completed.Store(true)
	return nil
}

type attemptKey struct{}

// runningAttempt is what a handler's context carries.
type runningAttempt struct {
	a         *attempt
	db        *DB
	slot      int
	began     time.Time
	completed atomic.Bool // CompleteTx ran; whether its transaction was committed is asked
}

// committed reports that CompleteTx settled the attempt and was committed. When
// the database does not say, the outcome goes to the settler: it is kept as late
// then if it was.
func (r *runningAttempt) committed() bool {
	if !r.completed.Load() {
		return false
	}
	token := r.a.token()
	for wait := 50 * time.Millisecond; wait < 5*time.Second; wait *= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		done, err := r.db.Unsettled(ctx, r.a.server, []store.Token{token})
		cancel()
		if err == nil {
			return done[token]
		}
		time.Sleep(wait)
	}
	return false
}
