package store

import (
	"context"
	"database/sql"
	"fmt"
)

// SettleTx is Settle in the caller's transaction: the outcomes come true when it
// commits. When tokens are refused it should be rolled back, else late rows tell
// of outcomes that somebody else may have reported.
func (db *DB) SettleTx(ctx context.Context, tx Querier, server int64, batch []Settled) (refused []Token, err error) {
	err = db.onEffects(ctx, tx, settleStatement, func(r *sql.Rows) error {
		var t Token
		err := r.Scan(&t.ID, &t.Attempt)
		refused = append(refused, t)
		return err
	}, settleArgs(server, inOrder(batch))...)
	if err != nil {
		return nil, fmt.Errorf("settle %d jobs in a transaction: %w", len(batch), err)
	}
	return refused, nil
}
