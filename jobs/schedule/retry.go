package schedule

import (
	"fmt"
	"time"
)

// RetryMargin is how long before the next fire a retry has to start, as in
// Quartz.NET 4: 1 second.
const RetryMargin = time.Second

// RetryFits reports whether a retry at retryAt leaves the next fire alone. One
// with retryAt + RetryMargin >= nextFire is dropped: the next fire does its work
// anyway. A zero nextFire means that there is none.
func RetryFits(retryAt, nextFire time.Time) bool {
	return nextFire.IsZero() || retryAt.Add(RetryMargin).Before(nextFire)
}

// RetryFits reports whether a retry at retryAt, after a failure at failedAt,
// leaves the next fire alone and is not after the end of the bounds; exactly at
// the end is accepted.
func (s Schedule) RetryFits(failedAt, retryAt time.Time) bool {
	if end := s.bounds.End; !end.IsZero() && retryAt.After(end) {
		return false
	}
	return RetryFits(retryAt, s.Next(failedAt))
}

// Conflict is a retry policy that does not fit its schedule: its longest wait
// reaches the next fire where fires are closest together, so that such retries
// are dropped and the policy silently does less than it says.
type Conflict struct {
	Wait time.Duration // the longest wait of the policy
	Gap  time.Duration // the smallest time between two fires
	At   time.Time     // the first of these two fires
}

// String is the warning for log and screen.
func (c Conflict) String() string {
	w := words{english}
	return fmt.Sprintf("the retry policy waits up to %s, but the schedule can fire again after %s (from %s): a retry that reaches the next fire is dropped",
		w.duration(c.Wait), w.duration(c.Gap), stamp(c.At))
}

// WarnRetry reports whether the longest of a policy's waits outlives the
// smallest gap between two fires in the year after now (see SmallestGap). Give
// the upper end of waits that vary. No waits and fewer than two fires are no
// conflict.
func WarnRetry(waits []time.Duration, s Schedule, now time.Time) (Conflict, bool) {
	var c Conflict
	for _, w := range waits {
		c.Wait = max(c.Wait, w)
	}
	c.Gap, c.At = s.SmallestGap(now)
	return c, len(waits) > 0 && c.Gap > 0 && c.Wait >= c.Gap-RetryMargin
}

// SmallestGap gives the smallest time between two neighbouring fires in the
// year after now, and the first of the two; 0 if there are fewer than two fires.
// It looks at the first 2,000 fires, which hold every gap that the times of day
// can make, and at those around each clock change, which may bring two fires
// closer together than on any other day.
func (s Schedule) SmallestGap(now time.Time) (gap time.Duration, at time.Time) {
	const sample = 2_000
	until := now.Add(366 * 24 * time.Hour)
	walk := func(fire time.Time, n int) {
		for range n {
			next := s.Next(fire)
			if fire.IsZero() || next.IsZero() || next.After(until) {
				return
			}
			if d := next.Sub(fire); gap == 0 || d < gap {
				gap, at = d, fire
			}
			fire = next
		}
	}
	first := s.Next(now)
	walk(first, sample)
	if s.cron == nil || first.IsZero() {
		return gap, at
	}
	for u := now.Unix(); u < until.Unix(); {
		u = min(spanAt(s.loc, u).end, until.Unix())
		if change := time.Unix(u, 0); first.Before(change) {
			walk(s.latest(first, change.Add(-time.Second)), 3)
		}
	}
	return gap, at
}
