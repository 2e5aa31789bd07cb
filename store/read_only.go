package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/lib/pq"
)

// IsReadOnly reports that a write was refused because the server takes none: it is a
// replica, or was made read-only for a failover.
func IsReadOnly(err error) bool {
	pe, ok := errors.AsType[*pq.Error](err)
	if !ok {
		return false
	}
	// A replica refuses the "begin read write" of lib/pq before any statement, with a
	// general code; the place in the server that says so is its name.
	return pe.Code == "25006" || pe.Code == "0A000" && pe.Routine == "call_bool_check_hook"
}

// ReadOnly reports that the database takes no writes now: it is a replica, or its
// settings say so.
func (db *DB) ReadOnly(ctx context.Context) (yes bool, err error) {
	err = db.GetContext(ctx, &yes, `select current_setting('transaction_read_only')::boolean`)
	if err != nil {
		return false, fmt.Errorf("ask whether the database takes writes: %w", err)
	}
	return yes, nil
}
