package store

import "errors"

// Sentinels; callers test with errors.Is, the dashboard maps them to statuses.
var (
	// ErrNotFound: no such job, queue or server (404).
	ErrNotFound = errors.New("not found")
	// ErrStateChanged: somebody moved the job first (409). A normal answer.
	ErrStateChanged = errors.New("state changed")
	// ErrLeaseLost: the server's row was taken by another; what it runs no longer counts.
	ErrLeaseLost = errors.New("lease lost")
	// ErrNoPrimary: the address asks for a server that takes writes, and none of its
	// hosts does now: a failover is under way, or the primary was made read-only.
	ErrNoPrimary = errors.New("no server takes writes now")
	// ErrSchemaTooNew: the database was migrated by a newer program, by a step that this
	// one cannot live with.
	ErrSchemaTooNew = errors.New("schema is newer than this program")
)
