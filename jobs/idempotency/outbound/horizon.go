package outbound

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
)

// Retention is how long settled claims are kept: a run after it knows nothing of
// the first one.
const Retention = 30 * 24 * time.Hour

// Warning is one way in which a retry policy outlives what protects it.
type Warning struct {
	// What ends too early: "key life" or "retention".
	What string
	// Life of it, from the first request, of which the last Margin is not relied on.
	Life, Margin time.Duration
	// Retry is the first automatic retry that may start too late.
	Retry int
	// Start is when that retry starts at the latest.
	Start time.Duration
	// Horizon is when the last retry ends at the latest.
	Horizon  time.Duration
	Provider string
}

// String names the retry and the times.
func (w Warning) String() string {
	subject := fmt.Sprintf("the %s of %s", w.What, w.Provider)
	if w.What == retention {
		subject = "the retention of claims"
	}
	life := w.Life.String()
	if w.Margin > 0 {
		life += fmt.Sprintf(" less %v", w.Margin)
	}
	if w.Start == math.MaxInt64 {
		return fmt.Sprintf("a run without a timeout may outlive %s (%s)", subject, life)
	}
	return fmt.Sprintf("retry %d may start %v after the first request, beyond %s (%s); the last one ends after %v",
		w.Retry, w.Start, subject, life, w.Horizon)
}

const (
	keyLife   = "key life"
	retention = "retention"
)

// CheckHorizon compares a retry policy with the provider's key life, less the margin
// of ClaimOptions, and with Retention. The latest moment of a retry is the sum of the longest waits before it
// and, for each earlier run, timeout and lease: a run may take its timeout, and the
// loss of its server is noticed a lease later. A timeout of 0 means none. Time that
// jobs wait for a worker, snoozes and requeues by hand come on top.
func CheckHorizon(policy jobs.RetryPolicy, timeout, lease time.Duration, profile Profile) []Warning {
	var found []Warning
	check := func(what string, life, margin time.Duration) {
		if w, outside := outlives(policy, timeout, lease, life-margin); outside {
			w.What, w.Life, w.Margin, w.Provider = what, life, margin, profile.Name
			found = append(found, w)
		}
	}
	if profile.Honours() && profile.KeyLife > 0 {
		check(keyLife, profile.KeyLife, profile.margin())
	}
	check(retention, Retention, 0)
	return found
}

// RequireHorizon is CheckHorizon with an error that names the retry policy if mode
// is Strict, and nothing if it is Off.
func RequireHorizon(mode idempotency.Mode, policy jobs.RetryPolicy, timeout, lease time.Duration, profile Profile) ([]Warning, error) {
	if mode == idempotency.Off {
		return nil, nil
	}
	found := CheckHorizon(policy, timeout, lease, profile)
	if mode != idempotency.Strict {
		return found, nil
	}
	var errs []error
	for _, w := range found {
		errs = append(errs, &jobs.InputError{Field: "retry policy", Problem: w.String()})
	}
	return found, errors.Join(errs...)
}

// Horizon makes the registration of a kind that calls these providers check its
// horizon, with the retry policy, timeout and lease that apply there. With
// idempotency.Warn what outlives a key or the retention is logged and shown with the
// kind on the dashboard; with Strict Run refuses to start and names the first such
// retry.
//
//	jobs.Handle(client, sendInvoice, jobs.Timeout(time.Minute), outbound.Horizon(idempotency.Strict, mailer.Profile))
func Horizon(mode idempotency.Mode, profiles ...Profile) jobs.HandleOption {
	return jobs.CheckPlan(func(plan jobs.Plan) (warnings []string, err error) {
		for _, p := range profiles {
			found, refused := RequireHorizon(mode, plan.Policy, plan.Timeout, plan.Lease, p)
			err = errors.Join(err, refused)
			for _, w := range found {
				if text := w.String(); !slices.Contains(warnings, text) { // the retention is the same for all
					warnings = append(warnings, text)
				}
			}
		}
		return warnings, err
	})
}

// outlives finds the first retry that may start later than life after the first run.
func outlives(policy jobs.RetryPolicy, timeout, lease, life time.Duration) (Warning, bool) {
	if policy.MaxRetries <= 0 {
		return Warning{}, false // one run, one request
	}
	if timeout <= 0 {
		return Warning{Retry: 1, Start: math.MaxInt64, Horizon: math.MaxInt64}, true
	}
	run := timeout + lease
	start := time.Duration(0)
	for n := 1; n <= policy.MaxRetries; n++ {
		_, longest := policy.WaitBand(n)
		if start += run + longest; start > life {
			return Warning{Retry: n, Start: start, Horizon: policy.Horizon(run)}, true
		}
	}
	return Warning{}, false
}
