package bench

import (
	"maps"
	"slices"
	"time"

	"github.com/tekrar/tekrar/store"
)

// longestTry is how long an engine waits between two tries of what fails: after an
// outage, its first sweep comes that and a lease later.
const longestTry = 5 * time.Second

func (e *evidence) inTime(what string, s store.RecordServer, since, done time.Time) {
	took, deadline, affected := done.Sub(since), since.Add(e.sweep+e.slack), false
	for _, o := range e.outages { // in order
		over := o.To.Add(longestTry + e.lease + e.sweep + e.slack)
		if o.From.Before(deadline) && over.After(since) {
			affected = true
			if over.After(deadline) {
				deadline = over
			}
		}
	}
	limit := deadline.Sub(since) + e.unattended(since, done)
	if affected {
		e.figures.WorstOutage = max(e.figures.WorstOutage, ms(took))
	} else {
		e.figures.WorstReclaim = max(e.figures.WorstReclaim, ms(took))
		if died, dead := e.deaths[s.PID]; dead && died.Before(done) && died.After(s.LeaseUntil.Add(-e.lease)) {
			e.figures.WorstCrash = max(e.figures.WorstCrash, ms(done.Sub(died)))
		}
	}
	if took > limit {
		e.breach("late reclaim: server %d (%s), %s only %v after its lease ended at %s; the limit is %v",
			s.ID, s.Name, what, took.Round(time.Millisecond), at(since), limit.Round(time.Millisecond))
	}
}

// unattended is the time between two moments in which no server was there to take
// anything over: one is there from its registration to its last renewal.
func (e *evidence) unattended(from, to time.Time) (gap time.Duration) {
	servers := slices.SortedFunc(maps.Values(e.record.Servers), func(a, b store.RecordServer) int { return a.StartedAt.Compare(b.StartedAt) })
	for _, s := range servers {
		until := s.LeaseUntil.Add(-e.lease)
		if s.StoppedAt != nil {
			until = *s.StoppedAt
		}
		if !until.After(from) {
			continue
		}
		if !s.StartedAt.Before(to) {
			break
		}
		gap += max(0, s.StartedAt.Sub(from))
		from = until
	}
	return gap + max(0, to.Sub(from))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
