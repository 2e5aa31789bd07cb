package idempotency

import (
	"context"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// Reserved is what Reserve and ClaimRow found.
type Reserved struct {
	// Fresh: the row is new, and it is the caller's transaction that made it.
	Fresh bool
	// Found is what was there if not Fresh: Done with the receipt, Busy (reserved or
	// held already), Unknown.
	Found Outcome
}

// Reserve makes the claim of a key, nobody's yet, in the transaction that writes
// the business row and enqueues the job: a second click finds it and enqueues
// nothing. Whoever claims the key then takes it over at once. It goes with the
// transaction if that is rolled back.
func (c *Claims) Reserve(ctx context.Context, tx jobs.Querier, key Key, opts ...Option) (Reserved, error) {
	o, err := c.options(opts)
	if err != nil {
		return Reserved{}, err
	}
	if err := key.Err(); err != nil {
		return Reserved{}, jobs.Permanent(err)
	}
	if err := c.guard(ctx, key); err != nil {
		return Reserved{}, err
	}
	row, fresh, err := c.db.ReserveEffect(ctx, tx, key.String(), o.fingerprint, c.cfg.Holder)
	if err != nil || fresh {
		return Reserved{Fresh: fresh}, err
	}
	return Reserved{Found: outcomeOf(row, o)}, nil
}

// Column is a column of a user's table and its value.
type Column struct {
	Name  string
	Value any
}

// Row is a row that a job writes anyway, with a natural key that a unique index
// of the table covers: the invoice's number.
type Row struct {
	Table string   // "invoices" or "accounting.invoices", as written in SQL
	Key   []Column // all columns of the unique index
	Other []Column // what else the row needs at once
}

// ClaimRow claims by that row: whoever inserts it does the work, in this
// transaction, and the row is the record that it was done. Fresh: the row is
// inserted; write the rest, and commit. Not Fresh: it is there, committed by
// somebody else; Found is Done then. A second transaction waits for the first. It
// never dies of a unique violation, after which Postgres would refuse all
// statements.
//
// It is for work within the database. An effect outside of it needs a Claim, since
// a row cannot tell "begun" from "done".
func (c *Claims) ClaimRow(ctx context.Context, tx jobs.Querier, row Row) (Reserved, error) {
	if isPool(tx) {
		return Reserved{}, &InputError{Field: "tx", Problem: "is a pool: begin a transaction on it"}
	}
	if len(row.Key) == 0 {
		return Reserved{}, &InputError{Field: "key", Problem: "has no column"}
	}
	var names []string
	var values []any
	for _, col := range append(append([]Column(nil), row.Key...), row.Other...) {
		names, values = append(names, col.Name), append(values, col.Value)
	}
	fresh, err := c.db.ClaimRow(ctx, tx, store.UserRow{Table: row.Table, Columns: names, Values: values, KeyColumns: len(row.Key)})
	if err != nil {
		return Reserved{}, err
	}
	if fresh {
		return Reserved{Fresh: true}, nil
	}
	return Reserved{Found: Outcome{Result: Done, Receipt: []byte("null")}}, nil
}
