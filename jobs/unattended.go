package jobs

import (
	"sync/atomic"
	"time"
)

// attended is when this server's lease was renewed last, and when it was renewed after
// a long time without: in unix nanoseconds, 0 never. It is the clock of the wall, which
// goes on while a whole machine is suspended, its database with it.
type attended struct{ last, after atomic.Int64 }

// renewed notes that the lease was renewed now.
func (e *engine) renewed() {
	now := time.Now()
	if last := e.attended.last.Swap(now.UnixNano()); last != 0 && now.Sub(time.Unix(0, last)) > e.alone() {
		e.attended.after.Store(now.UnixNano())
	}
}

// alone is for how long nobody can have renewed when a lease of another may have ended:
// that one's last renewal was a heartbeat earlier than ours. It is longer than the time
// between two renewals that are well.
func (e *engine) alone() time.Duration {
	beat := e.cfg.Heartbeat * 5 / 4 // jittered
	return max(e.cfg.Lease-beat, beat*21/20)
}

// unattended says that lately, within a lease, this server could not renew its own for so
// long that others may be without theirs, because the database was away or the process
// stood still. It is then in no position to call them lost: those that are well may have
// had no more of a chance than it had. A sweep that fails says the same, but sweeps may
// be rarer than outages.
func (e *engine) unattended() bool {
	now := time.Now()
	after := now.Sub(time.Unix(0, e.attended.after.Load())) // below zero once the clock was set back
	return now.Sub(time.Unix(0, e.attended.last.Load())) > e.alone() || 0 <= after && after < e.cfg.Lease
}
