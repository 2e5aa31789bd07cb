package jobs

import (
	"errors"
	"time"
)

// Plan is how far the jobs of a kind may go: the policy that applies to them, the
// timeout of one run (0: none), and the lease after which a lost server is noticed.
// Jobs with a policy or timeout of their own may go further.
type Plan struct {
	Kind           string
	Policy         RetryPolicy
	Timeout, Lease time.Duration
}

// CheckPlan has check judge the plan of the kind when it is registered. Warnings are
// logged once and published with the kind, for the dashboard. An error is one of the
// registration: Run returns it and starts nothing. Package idempotency/outbound has
// such a check: its Horizon compares the plan with the life of idempotency keys.
func CheckPlan(check func(Plan) (warnings []string, err error)) HandleOption {
	return func(h *handler) error {
		if check == nil {
			return inputError("CheckPlan", "is nil")
		}
		h.checks = append(h.checks, check)
		return nil
	}
}

// judge runs the kind's checks and keeps their warnings.
func (c *Client) judge(h *handler) error {
	policy, _ := effectivePolicy(nil, h.policy, c.cfg.Retry)
	plan := Plan{Kind: h.kind, Policy: policy, Timeout: h.timeout, Lease: c.cfg.Lease}
	orElse(&plan.Timeout, c.cfg.Timeout)
	var errs []error
	for _, check := range h.checks {
		warnings, err := check(plan)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, w := range warnings {
			c.log.Warn("a kind's retries go further than what protects them", "kind", h.kind, "warning", w)
		}
		h.warnings = append(h.warnings, warnings...)
	}
	return errors.Join(errs...)
}
