package bench

import (
	"time"

	"github.com/tekrar/tekrar/store"
)

// judgeEffects: each effect belongs to an attempt that history knows, by its
// token, once; and whoever says that work was done has done it.
func (e *evidence) judgeEffects() {
	done := map[int64]int{}
	for k, f := range e.effects {
		t := e.attempts[k]
		switch {
		case t == nil || len(t.claims) == 0:
			e.breach("effect beyond attempts: job %d attempt %d ran in process %d, and history has no such attempt", k.job, k.attempt, f.PID)
			continue
		case f.starts > 1 || f.ends > 1:
			e.breach("attempt run twice: job %d attempt %d began %d times and ended %d times", k.job, k.attempt, f.starts, f.ends)
		case t.claims[0].Server.Int64 != f.Server:
			e.breach("token: job %d attempt %d was claimed by server %d and ran on server %d", k.job, k.attempt, t.claims[0].Server.Int64, f.Server)
		case f.Begun.Before(t.claims[0].At.Add(-time.Millisecond)):
			e.breach("effect before its claim: job %d attempt %d", k.job, k.attempt)
		}
		if f.ends > 0 {
			done[k.job]++
		}
		for _, o := range t.outcomes {
			if f.ends == 0 && !reclaim(o) {
				e.breach("outcome without an end: job %d attempt %d never ended, and history says %s", k.job, k.attempt, o.State)
			}
		}
	}
	counted := map[int64]int{}
	for k, t := range e.attempts {
		for _, o := range t.outcomes {
			if o.Settled {
				counted[k.job]++
			}
			if f := e.effects[k]; o.State == store.Succeeded && (f == nil || f.ends == 0) {
				e.breach("success without an effect: job %d attempt %d", k.job, k.attempt)
			}
		}
	}
	for job, n := range done {
		if n > counted[job] {
			e.figures.Doubled++
		}
	}
}

// judgeOverlap: two attempts of one job run at one time only if the lease of the
// earlier one's server had ended.
func (e *evidence) judgeOverlap() {
	for k, later := range e.effects {
		former, ran := e.effects[attemptKey{k.job, k.attempt - 1}]
		if !ran || e.attempts[attemptKey{k.job, k.attempt - 1}] == nil {
			continue
		}
		until := former.Ended
		if until.IsZero() {
			until = e.deaths[former.PID]
		}
		if !until.After(later.Begun) {
			continue
		}
		for _, o := range e.attempts[attemptKey{k.job, k.attempt - 1}].outcomes {
			s, known := e.record.Servers[o.Server.Int64]
			if !reclaim(o) || !known || s.LostAt == nil || o.At.Before(s.LeaseUntil) {
				e.breach("overlap: job %d attempt %d began at %s while attempt %d ran until %s, and its lease had not ended",
					k.job, k.attempt, at(later.Begun), k.attempt-1, at(until))
			}
		}
	}
}

// judgeReclaims: what a lost server held is taken over within one sweep after the
// lease. After an outage of the database everybody waits for a lease more.
func (e *evidence) judgeReclaims() {
	for _, s := range e.record.Servers {
		if s.LostAt == nil {
			if died, dead := e.deaths[s.PID]; s.StoppedAt == nil && dead {
				e.breach("never lost: server %d (%s) ended at %s without stopping, and nobody noticed", s.ID, s.Name, at(died))
			}
			continue
		}
		e.figures.ServersLost++
		if s.LostAt.Before(s.LeaseUntil) {
			e.breach("lost early: server %d at %s, its lease ran until %s", s.ID, at(*s.LostAt), at(s.LeaseUntil))
		}
		e.inTime("found lost", s, s.LeaseUntil, *s.LostAt)
	}
	for k, t := range e.attempts {
		for _, o := range t.outcomes {
			s, known := e.record.Servers[o.Server.Int64]
			if !reclaim(o) || !known || len(t.claims) == 0 {
				continue
			}
			since := s.LeaseUntil
			if s.LostAt == nil && s.StoppedAt != nil {
				since = *s.StoppedAt
				if f := e.effects[k]; f != nil && f.Ended.IsZero() {
					e.breach("stopped early: server %d stopped while job %d attempt %d ran", s.ID, k.job, k.attempt)
				}
			}
			if t.claims[0].At.After(since) {
				since = t.claims[0].At
			}
			if o.At.Before(since) {
				e.breach("reclaimed early: job %d attempt %d at %s, the lease ran until %s", k.job, k.attempt, at(o.At), at(since))
			}
			e.inTime("its job reclaimed", s, since, o.At)
		}
	}
}
