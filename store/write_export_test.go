package store

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// SetPause makes db call f at its pause points. Before the first use of db.
func SetPause(db *DB, f func(point string)) { db.pause, db.still = f, time.Minute }

// SetStandstill bounds how long transactions of db may stand still.
func SetStandstill(db *DB, d time.Duration) { db.still = d }

// AgeSessions makes the pinned connections of db count as unused for long.
func AgeSessions(db *DB) {
	for _, s := range db.sessions {
		s.mu.Lock()
		for _, one := range s.free {
			one.used = one.used.Add(-2 * idleTrust)
		}
		s.mu.Unlock()
	}
}

// ClaimIn is what Claim does, in a transaction that the test ends.
func ClaimIn(ctx context.Context, db *DB, tx *sqlx.Tx, server int64, queue string, limit int) (claimed []Claimed, err error) {
	rows, err := tx.QueryContext(ctx, db.sql(claimStatement), server, pq.Array([]string{queue}), pq.Array([]int64{0}),
		pq.Array([]int64{0}), pq.Array([]string{"k"}), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scanClaimed(rows, &claimed); err != nil {
			return nil, err
		}
	}
	return claimed, rows.Err()
}

// SettleIn is what Settle does, in a transaction that the test ends.
func SettleIn(ctx context.Context, db *DB, tx *sqlx.Tx, server int64, batch ...Settled) (refused []Token, err error) {
	rows, err := tx.QueryContext(ctx, db.sql(settleStatement), settleArgs(server, inOrder(batch))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t Token
		if err := rows.Scan(&t.ID, &t.Attempt); err != nil {
			return nil, err
		}
		refused = append(refused, t)
	}
	return refused, rows.Err()
}

// PromoteIn is what Promote does, in a transaction that the test ends.
func PromoteIn(ctx context.Context, db *DB, tx *sqlx.Tx) (ids []int64, err error) {
	rows, err := tx.QueryContext(ctx, db.sql(promoteStatement))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var queues []string
		var next any
		if err := rows.Scan(&n, pq.Array(&queues), (*pq.Int64Array)(&ids), &next); err != nil {
			return nil, err
		}
	}
	return ids, rows.Err()
}

// Writings gives the statements of the engine to tests that look at their plans.
func Writings(db *DB) map[string]Reading {
	const seven = `'{1,2,3}', '{1,1,1}', '{4,4,4}', '{1,1,1}', '{0,0,0}', '{0,0,0}', '{0,0,0}', '{0,0,0}', '{0,0,0}', ` +
		`'{0,0,0}', '{0,0,0}', '{0,0,0}', '{0,0,0}', '{"","",""}', '{"","",""}', '{"","",""}', '{"","",""}', '{"","",""}', '{"","",""}', '{0,0,0}', '{4,5}', '{1,1}', '{0,0}', '{0,0}', '{0,0}', '{1,2}'`
	return map[string]Reading{
		"enqueue":        {db.sql(enqueueStatement), `'{}', '{1}', '{0}', '{0}', '{q}', '{k}', '{0}', '{0}', '{""}', 'c', '{q}', '{""}', '{""}', '{0}', '{""}'`},
		"enqueue, now":   {db.sql(enqueueNow), `'{}', '{1}', '{0}', '{0}', '{q}', '{k}', '{0}', '{0}', '{""}', 'c', '{q}', '{""}', '{""}', '{0}', '{""}'`},
		"claim":          {db.sql(claimStatement), `1, '{q0,q1}', '{0,0}', '{0,0}', '{k1,k2}', 500`},
		"claim front":    {db.sql(claimFront), `'{q0,q1}', '{0,0}', '{k1,k2}'`},
		"held":           {db.sql(heldStatement), `1, '{1,2,3}'`},
		"settle":         {db.sql(settleStatement), `1, ` + seven},
		"ask":            {db.sql(askStatement), `1, '{1,2,3}', '{1,1,1}'`},
		"promote":        {db.sql(promoteStatement), ``},
		"reclaim":        {db.sql(reclaimStatement), `1, 2, 3, 'name'`},
		"requeue":        {db.sql(requeueStatement), `'{1,2,3}', '{4,4,4}', 'a', 'requeue', 'c', true`},
		"restore":        {db.sql(restoreStatement), `'{1,2,3}', '{6,6,6}', 'a', 'restore', 'c'`},
		"delete":         {db.sql(deleteStatement), `'{1,2,3}', '{4,4,4}', 'a', 'delete', 'c'`},
		"cancel":         {db.sql(cancelStatement), `'{1,2,3}', '{3,3,3}', 'a', 'cancel', 'c'`},
		"await":          {db.sql(awaitStatement), `'{}', '{1}', '{0}', '{0}', '{q}', '{k}', '{0}', '{0}', '{""}', 'c', '{q}', '{""}', '{""}', '{0}', '{""}', '{1}', '{1}'`},
		"continue":       {db.sql(continueStatements[ofParents]), `'{1,2,3}', 'c'`},
		"continue these": {db.sql(continueStatements[ofJobs]), `'{1,2,3}', 'c'`},
		"abandon":        {db.sql(abandonStatement), `'{1,2,3}', '{1,2,3}'`},
		"due":            {db.sql(takeDue), `20`},
		"next due":       {db.sql(nextDue), ``},
		"unfinished":     {db.sql(unfinished), `'{r1,r2}'`},
		"fires":          {db.sql(insertFires), `'{r1}', '{1}', '{1}', '{1}', '{""}'`},
		"moved on":       {db.sql(updateFired), `'{r1}', '{1}', '{1}', '{0}', '{0}', '{0}', '{""}'`},
		"expire, kinds":  {db.sql(finishedKinds), `4, 86400000`},
		"expire, lock":   {db.sql(lockJobs), `'{1,2,3}'`},
		"expire, rows":   {db.sql(finishedRowsOfKind), `4, 'k1', 0, 1000, 1000`},
		"fold failures":  {db.sql(failuresFolded), `50000`},
		"expire, remove": {db.sql(removeFinished), `'{1,2,3}', '{1,2,3}', 4`},
	}
}

// Channels gives the names of the notification channels.
func Channels(db *DB) []string { return []string{db.jobsChannel(), db.changesChannel()} }
