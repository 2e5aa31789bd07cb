package jobs

import "time"

// Each claim and each settle costs Postgres half a millisecond before its first job. At
// 2,000 jobs a second they came with six to eight jobs; from busyRate on a small one
// waits until its gap has passed since the one before it began, which halved their time
// in Postgres and took a third off the 99th percentile of the wait for a start. Below
// that rate nothing waits, nor does a claim that may find more at once, or a settle of
// many.
const (
	busyRate  = 1000 // jobs a second
	claimGap  = aheadFor / 4
	settleGap = 10 * time.Millisecond
	// manyToSettle are not a small settle.
	manyToSettle = 64
)

// pace is a rate of jobs, smoothed over a fifth of a second.
type pace struct {
	rate float64
	at   time.Time // of the last look
}

// saw takes in that n jobs came since the last look.
func (p *pace) saw(n int64) {
	now := time.Now()
	if gap := now.Sub(p.at).Seconds(); gap > 0 && !p.at.IsZero() {
		share := min(1, gap/0.2)
		p.rate += share * (float64(n)/gap - p.rate)
	}
	p.at = now
}

// rest is how much of a gap since the last look is left while jobs come fast.
func (p *pace) rest(gap time.Duration) time.Duration {
	if p.rate < busyRate {
		return 0
	}
	return gap - time.Since(p.at)
}
