package jobs

import (
	"fmt"
	"time"

	"github.com/tekrar/tekrar/store"
)

// counters are a job's three counters and its snoozes, as its hot row holds them.
type counters struct {
	Attempt int // starts; the one being judged is counted already
	Retry   int // automatic retries used
	Losses  int // servers lost while running it
	Snoozes int
}

// decision is everything a settle has to write about one attempt.
type decision struct {
	State     store.State
	Cause     store.Cause // why, if State is Scheduled
	Outcome   store.Outcome
	Delay     time.Duration // until run_at, whole microseconds; only if State is Scheduled
	ViaFailed bool          // two history rows at one instant: failed, then State

	Reason       string // of the history row of State
	FailedReason string // of the failed row; equal to Reason if State is Failed
	Rule         string // what decided, in words; empty for a success

	Next counters // what the job's next hot row holds

	// Of a failed or cancelled attempt; cleaned, capped, fit for Postgres.
	ErrorType   string
	ErrorText   string
	ErrorLine   string // first line of ErrorText
	Stack       string // user frames first; empty unless it panicked
	Fingerprint int64  // equal for failures that differ in numbers and ids only

	Faults []string // misbehaving functions of the policy, to be logged
}

// decide judges one attempt. It is pure: res, the policy and the counters say
// everything, rnd gives the chance in the waits.
func decide(res result, p RetryPolicy, c counters, rnd func() float64) decision {
	d := decision{Next: c}
	err := res.failure()
	if err == nil {
		d.State, d.Outcome = store.Succeeded, store.OutcomeSucceeded
		return d
	}
	if res.Asked != nil {
		return d.cancelledBy(res, err, res.Asked.By)
	}
	ruled := ruling(err)
	switch x := ruled.(type) {
	case *snoozeError:
		return d.snooze(res, err, x.wait)
	case *cancelError:
		return d.cancel(res, err, x)
	case *permanentError:
		return d.fail(res, err, store.OutcomePermanent, permanentRule(err))
	}
	rule, hopeless := d.excluded(p, err)
	if res.interrupted(err, hopeless) {
		d.State, d.Outcome = store.Enqueued, store.OutcomeInterrupted
		d.Reason, d.Rule = "Interrupted by shutdown", "the server stopped; no retry used"
		return d
	}
	switch {
	case rule != "":
		return d.fail(res, err, store.OutcomePermanent, rule)
	case c.Retry >= p.MaxRetries && p.OnExceeded == Delete:
		return d.exceed(res, err, budgetRule(c.Retry, p.MaxRetries)+", OnExceeded is Delete")
	case c.Retry >= p.MaxRetries:
		return d.fail(res, err, store.OutcomeExhausted, budgetRule(c.Retry, p.MaxRetries))
	}
	after, _ := ruled.(*retryAfterError)
	return d.retry(res, err, p, after, rnd)
}

// permanentRule lets an error say in its own words why no retry can cure it.
func permanentRule(err error) string {
	rule := "permanent error"
	walk(err, func(e error) bool {
		named, ok := e.(interface{ Rule() string })
		if ok {
			rule = cleanText(named.Rule(), maxErrorLine)
		}
		return ok
	})
	return rule
}

func budgetRule(used, limit int) string {
	if limit <= 0 {
		return "no retries (MaxRetries is 0)"
	}
	return fmt.Sprintf("retry budget used up (%d of %d)", used, limit)
}

// excluded asks the policy's lists. hopeless is set by ExceptOn only: an error
// that is merely absent from OnlyOn may be a cancellation in disguise.
func (d *decision) excluded(p RetryPolicy, err error) (rule string, hopeless bool) {
	name, found, faults := firstMatch(p.ExceptOn, err)
	d.Faults = append(d.Faults, faults...)
	if found {
		return "excluded by ExceptOn: " + name, true
	}
	if len(p.OnlyOn) == 0 {
		return "", false
	}
	_, found, faults = firstMatch(p.OnlyOn, err)
	d.Faults = append(d.Faults, faults...)
	if found {
		return "", false
	}
	return "not in OnlyOn", false
}

// describe fills in what is said about the error, whatever becomes of the job.
func (d *decision) describe(res result, err error) {
	d.ErrorType = errorType(err)
	d.ErrorText = res.errorText(err)
	d.ErrorLine = clip(firstLine(d.ErrorText), maxErrorLine)
	d.Stack = cleanText(trimStack(res.Stack), maxStackText)
	d.Fingerprint = Fingerprint(d.ErrorType, d.ErrorText)
	d.FailedReason = fmt.Sprintf("An error occurred during attempt %d", d.Next.Attempt)
}

func (d decision) fail(res result, err error, outcome store.Outcome, rule string) decision {
	d.describe(res, err)
	d.State, d.Outcome = store.Failed, outcome
	d.Reason, d.Rule = d.FailedReason, rule
	return d
}

func (d decision) exceed(res result, err error, rule string) decision {
	d.describe(res, err)
	d.State, d.Outcome, d.ViaFailed = store.Deleted, store.OutcomeExceeded, true
	d.Reason, d.Rule = "Exceeded the maximum number of retries", rule
	return d
}

func (d decision) retry(res result, err error, p RetryPolicy, after *retryAfterError, rnd func() float64) decision {
	d.describe(res, err)
	n := d.Next.Retry + 1
	d.Next.Retry = n
	d.ViaFailed, d.Outcome = true, store.OutcomeRetried
	d.Reason = fmt.Sprintf("Retry attempt %d of %d: %s", n, p.MaxRetries, clip(d.ErrorLine, maxReasonMessage))
	d.Rule = fmt.Sprintf("retry %d of %d", n, p.MaxRetries)
	if after != nil {
		d.Delay = clampWait(after.wait)
		d.Rule += ", wait set by RetryAfter"
	} else {
		var fault string
		if d.Delay, fault = p.wait(n, err, rnd); fault != "" {
			d.Faults = append(d.Faults, fault)
		}
	}
	if dropped := res.Upcoming.drop(d.Delay); dropped != "" {
		d.Next.Retry, d.Delay, d.ViaFailed = n-1, 0, false
		return d.fail(res, err, store.OutcomeExhausted, dropped)
	}
	if d.Delay == 0 {
		d.State = store.Enqueued
		return d
	}
	d.State, d.Cause = store.Scheduled, store.CauseRetry
	d.Delay = wholeMicroseconds(d.Delay)
	return d
}

func (d decision) snooze(res result, err error, wait time.Duration) decision {
	if d.Next.Snoozes >= MaxSnoozes {
		return d.fail(res, err, store.OutcomePermanent, fmt.Sprintf("snoozed %d times, the limit", d.Next.Snoozes))
	}
	d.Next.Snoozes++
	d.State, d.Cause, d.Outcome = store.Scheduled, store.CauseSnooze, store.OutcomeSnoozed
	d.Delay = wholeMicroseconds(min(max(wait, MinSnooze), MaxWait))
	d.Reason, d.Rule = "Snoozed", "snoozed by its handler; no retry used"
	return d
}

func (d decision) cancel(res result, err error, x *cancelError) decision {
	if x.err != nil {
		d.describe(res, err)
		d.FailedReason = ""
	}
	d.State, d.Outcome = store.Deleted, store.OutcomeCancelled
	d.Reason, d.Rule = "Cancelled by its handler", "cancelled by its handler"
	if x.err != nil {
		d.Reason += ": " + clip(d.ErrorLine, maxReasonMessage)
	}
	return d
}

// wholeMicroseconds rounds up, since Postgres rounds to the nearest one and a
// retry must not start early.
func wholeMicroseconds(d time.Duration) time.Duration {
	return (d + time.Microsecond - 1).Truncate(time.Microsecond)
}
