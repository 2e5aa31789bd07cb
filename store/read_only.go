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
	for range 2 {
		err = db.GetContext(ctx, &yes, `select current_setting('transaction_read_only')::boolean`)
		if err != nil {
			return false, fmt.Errorf("ask whether the database takes writes: %w", err)
		}
		if !yes || !db.wantsPrimary() {
			break
		}
		db.leaveReadOnly(ctx) // another server may have taken its place
	}
	return yes, nil
}

// wantsPrimary reports that the address asks for a server that takes writes.
func (db *DB) wantsPrimary() bool {
	a := db.cfg.TargetSessionAttrs
	return a == pq.TargetSessionAttrsReadWrite || a == pq.TargetSessionAttrsPrimary
}

// leaveReadOnly gives up the connections that lie idle in the general pool: the server
// that they lead to takes no writes any more, and would keep them for an hour. They are
// kept while the address asks for a server that takes writes and there is none, since
// they still serve reads.
func (db *DB) leaveReadOnly(ctx context.Context) {
	if db.wantsPrimary() {
		cn, err := db.conn.Connect(ctx)
		if err != nil {
			return
		}
		_ = cn.Close()
	}
	db.SetMaxIdleConns(0)
	db.SetMaxIdleConns(generalConns)
}
