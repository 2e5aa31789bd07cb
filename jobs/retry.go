package jobs

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// MaxWait caps every single wait, computed or asked for: 30 days.
	MaxWait = 30 * 24 * time.Hour
	// MaxRetriesLimit is the highest MaxRetries that is accepted.
	MaxRetriesLimit = 100_000
	// MaxDelays is the longest list of Delays that is accepted.
	MaxDelays = 1_000
)

// OnExceeded says what becomes of a job whose retry budget is used up.
type OnExceeded int

const (
	// Fail keeps the job as failed until a person requeues or deletes it.
	Fail OnExceeded = iota
	// Delete moves the job to deleted, with its history, from where it can be
	// restored within the retention of deleted jobs. An error that the policy
	// excludes, or that is Permanent, fails all the same: nobody planned for it.
	Delete
)

// String gives the name that the published form of a policy uses.
func (o OnExceeded) String() string {
	if o == Delete {
		return "delete"
	}
	return "fail"
}

// RetryPolicy says whether and when a failed attempt is followed by another.
//
// Three policies can apply: one given with the job at enqueue, one given with
// its kind (option Retry), and the client's (Config.Retry). The most special
// one counts, at the time of the failure.
//
// A policy given with a job or a kind is taken literally: RetryPolicy{} there
// means no retries, one run. Only in Config is the zero value "not set", and
// means DefaultRetry(); there NoRetry() says that kinds without a policy of
// their own run once.
//
// A job's own policy is stored, so it can hold neither a Func nor matchers; the
// ExceptOn and OnlyOn that apply without it go on to apply.
type RetryPolicy struct {
	// MaxRetries is the number of automatic runs after the first: 3 allows four
	// runs, 0 one. From 0 to MaxRetriesLimit.
	MaxRetries int

	// Delays, if set, gives the waits: entry n-1 before retry n; past its end
	// the last one repeats. It wins over Backoff and does not limit the number
	// of retries. A wait of 0 enqueues the job at once. Nil means Backoff; an
	// empty list is refused, since it is more likely a mistake than a wish. Each
	// entry is from 0 to MaxWait; at most MaxDelays entries.
	Delays []time.Duration

	// Backoff computes the waits when Delays is nil. The zero value is
	// Hangfire().
	Backoff Backoff

	// ExceptOn lists errors that are never retried. One match anywhere in the
	// wrap chain is enough.
	ExceptOn []Matcher

	// OnlyOn, if it has entries, lists the only errors that are retried. An
	// error that matches both lists is not retried.
	OnlyOn []Matcher

	// OnExceeded rules what happens after the last retry; default Fail.
	OnExceeded OnExceeded
}

// DefaultRetry is Hangfire's policy: 10 retries, Hangfire() waits, then failed.
// Its ten waits add up to between 4 h 18 min and 4 h 45 min.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{MaxRetries: 10, Backoff: Hangfire()}
}

// NoRetry allows one run. Unlike RetryPolicy{} it says so in Config.Retry too.
func NoRetry() RetryPolicy { return RetryPolicy{Backoff: Hangfire()} }

// isZero tells an unset Config.Retry from one that was set.
func (p RetryPolicy) isZero() bool {
	return p.MaxRetries == 0 && p.Delays == nil && p.Backoff.kind == "" &&
		p.ExceptOn == nil && p.OnlyOn == nil && p.OnExceeded == Fail
}

// Validate reports every value outside its limits as an *InputError that names
// the field, joined into one error; nil if there is none. Registration and
// enqueue call it.
func (p RetryPolicy) Validate() error {
	var errs []error
	refuse := func(field, format string, args ...any) {
		errs = append(errs, inputError("RetryPolicy."+field, format, args...))
	}
	if p.MaxRetries < 0 || p.MaxRetries > MaxRetriesLimit {
		refuse("MaxRetries", "%d is outside 0 to %d", p.MaxRetries, MaxRetriesLimit)
	}
	if p.Delays != nil && len(p.Delays) == 0 {
		refuse("Delays", "the list is empty: at least 1 entry, or nil for Backoff")
	}
	if len(p.Delays) > MaxDelays {
		refuse("Delays", "%d entries: at most %d", len(p.Delays), MaxDelays)
	}
	for i, d := range p.Delays {
		if d < 0 || d > MaxWait {
			refuse(fmt.Sprintf("Delays[%d]", i), "%v is outside 0 to %v", d, MaxWait)
			break
		}
	}
	if field, problem := p.Backoff.problem(); problem != "" {
		refuse(field, "%s", problem)
	}
	matchers := func(field string, list []Matcher) {
		for i, m := range list {
			if m.match == nil && m.problem == "" {
				m.problem = "the zero Matcher never matches: use Is, As or MatchFunc"
			}
			if m.problem != "" {
				refuse(fmt.Sprintf("%s[%d]", field, i), "%s", m.problem)
			}
		}
	}
	matchers("ExceptOn", p.ExceptOn)
	matchers("OnlyOn", p.OnlyOn)
	if p.OnExceeded != Fail && p.OnExceeded != Delete {
		refuse("OnExceeded", "%d is neither Fail (%d) nor Delete (%d)", p.OnExceeded, Fail, Delete)
	}
	return errors.Join(errs...)
}

// Wait is the time between the failure err and retry n (1-based), from 0 to
// MaxWait. rnd gives numbers in [0, 1) and is asked afresh at each call, so that
// jobs that failed together do not come back together; nil means the default
// source. Waits set by RetryAfter are not seen here.
func (p RetryPolicy) Wait(n int, err error, rnd func() float64) time.Duration {
	d, _ := p.wait(n, err, rnd)
	return d
}

// wait also says what was wrong with a Func whose answer could not be used.
func (p RetryPolicy) wait(n int, err error, rnd func() float64) (time.Duration, string) {
	n = max(n, 1)
	if len(p.Delays) > 0 {
		return clampWait(p.Delays[min(n, len(p.Delays))-1]), ""
	}
	return p.Backoff.wait(n, err, rnd)
}

// WaitBand gives the shortest and the longest Wait before retry n. For a Func,
// which only the failing server can ask, it is 0 to MaxWait.
func (p RetryPolicy) WaitBand(n int) (shortest, longest time.Duration) {
	n = max(n, 1)
	if len(p.Delays) > 0 {
		d := clampWait(p.Delays[min(n, len(p.Delays))-1])
		return d, d
	}
	return p.Backoff.band(n)
}

// Window gives the shortest and the longest sum of all MaxRetries waits: how
// long the policy stays with a job that always fails at once. Sums that a
// Duration cannot hold (292 years) stop there.
func (p RetryPolicy) Window() (shortest, longest time.Duration) {
	for n := 1; n <= min(p.MaxRetries, MaxRetriesLimit); n++ {
		lo, hi := p.WaitBand(n)
		shortest, longest = addDurations(shortest, lo), addDurations(longest, hi)
	}
	return shortest, longest
}

// Horizon is the longest time from the start of the first run to the end of the
// last, when no run (its timeout and the lease of a lost server counted) takes
// longer than run. An idempotency key has to live at least that long. Time spent
// waiting for a free worker, snoozes and requeues by hand come on top.
func (p RetryPolicy) Horizon(run time.Duration) time.Duration {
	_, total := p.Window()
	runs := min(max(p.MaxRetries, 0), MaxRetriesLimit) + 1
	if run > 0 && run > math.MaxInt64/time.Duration(runs) {
		return math.MaxInt64
	}
	return addDurations(total, time.Duration(runs)*max(run, 0))
}

func clampWait(d time.Duration) time.Duration { return min(max(d, 0), MaxWait) }

// addDurations adds two non-negative durations and stops at the largest one.
func addDurations(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
