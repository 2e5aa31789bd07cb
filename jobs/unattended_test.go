package jobs

import (
	"testing"
	"time"
)

// A server that could not renew its own lease calls nobody lost, until all others had a
// lease's time to renew theirs, however rarely it sweeps (DBX-16).
func TestUnattendedServersSweepNothing_DBX16(t *testing.T) {
	t.Parallel()
	for name, beat := range map[string]time.Duration{"a third": 10 * time.Second, "the longest": 15 * time.Second} {
		e := &engine{cfg: Config{Lease: 30 * time.Second, Heartbeat: beat}}
		ago := func(d time.Duration) int64 { return time.Now().Add(-d).UnixNano() }
		wants := func(what string, want bool) {
			t.Helper()
			if e.unattended() != want {
				t.Errorf("heartbeats of %s: %s: unattended %t", name, what, !want)
			}
		}
		e.renewed()
		wants("just begun", false)
		e.attended.last.Store(ago(beat * 5 / 4))
		wants("a late renewal", false)
		e.renewed()
		wants("renewed in time", false)
		e.attended.last.Store(ago(e.cfg.Lease - time.Second))
		wants("no renewal for almost a lease", true)
		e.renewed()
		wants("renewed, others perhaps not yet", true)
		e.attended.after.Store(ago(e.cfg.Lease + time.Second))
		wants("a lease later", false)
		e.attended.after.Store(ago(-time.Hour))
		wants("the clock was set back", false)
	}
}
