package store

import "context"

// Heard reports whether a notification that we send arrives at a listener of ours.
// Through a pooler LISTEN reports success and nothing ever comes: then it waits
// until ctx ends. So does it when no listener gets a connection.
func (db *DB) Heard(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		db.ListenJobs(ctx, func(up bool) {
			if up {
				select {
				case heard <- struct{}{}:
				default:
				}
			}
		}, func(JobsHint) {})
	}()
	defer func() { cancel(); <-done }()
	select {
	case <-heard:
		return true
	case <-ctx.Done():
		return false
	}
}

// Pooled reports that the address says that it leads through a connection pooler;
// see Open.
func (db *DB) Pooled() bool { return pooled(db.cfg) }
