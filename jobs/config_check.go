package jobs

import (
	"fmt"
	"time"
)

const (
	maxWorkers   = 10_000
	maxLossLimit = 1_000 // beyond what a job's counter of losses should ever tell
	maxArgsLimit = 64 << 20
	minPoll      = 10 * time.Millisecond // shorter, and an idle server does nothing but ask
)

// check is for a Config with its defaults; an error names the field and the limit.
func (c Config) check() error {
	for _, err := range []error{
		within("Workers", c.Workers, 1, maxWorkers),
		within("Lease", c.Lease, time.Second, 24*time.Hour),
		within("Heartbeat", c.Heartbeat, 50*time.Millisecond, c.Lease/2),
		within("Sweep", c.Sweep, 50*time.Millisecond, 24*time.Hour),
		orZero("Poll", c.Poll, minPoll, time.Hour),
		orZero("Timeout", c.Timeout, time.Millisecond, MaxWait),
		within("StopGrace", c.StopGrace, 0, time.Hour),
		within("LossLimit", c.LossLimit, 0, maxLossLimit),
		within("MaxArgs", c.MaxArgs, len("{}"), maxArgsLimit),
		checkName("Config.Name", c.Name),
		c.Retry.Validate(),
		checkWebhook(c.Webhook),
	} {
		if err != nil {
			return err
		}
	}
	if c.Version != "" {
		if err := checkName("Config.Version", c.Version); err != nil {
			return err
		}
	}
	for i, m := range c.Middleware {
		if m == nil {
			return inputError(fmt.Sprintf("Config.Middleware[%d]", i), "is nil")
		}
	}
	return nil
}

// checkQueues is for a Config as it was given: a limit above Workers is a mistake
// only where both were said.
func (c Config) checkQueues() error {
	if c.Queues != nil && len(c.Queues) == 0 {
		return inputError("Config.Queues", "is empty: name at least one queue, or leave it nil")
	}
	most, whose := maxWorkers, ""
	if c.Workers > 0 && c.Workers < most {
		most, whose = c.Workers, " (Config.Workers)"
	}
	for _, name := range sortedKeys(c.Queues) {
		field := fmt.Sprintf("Config.Queues[%q]", name)
		if err := checkName(field, name); err != nil {
			return err
		}
		if n := c.Queues[name]; n < 0 || n > most {
			return inputError(field, "%d is outside 0 to %d%s", n, most, whose)
		}
	}
	for i, name := range c.OtherQueues {
		if err := checkName(fmt.Sprintf("Config.OtherQueues[%d]", i), name); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(c.QueueLimits) {
		field := fmt.Sprintf("Config.QueueLimits[%q]", name)
		if err := checkName(field, name); err != nil {
			return err
		}
		if err := checkLimit(field, c.QueueLimits[name]); err != nil {
			return err
		}
	}
	return nil
}

func within[T int | time.Duration](field string, v, low, high T) error {
	if v < low || v > high {
		return inputError("Config."+field, "%v is outside %v to %v", v, low, high)
	}
	return nil
}

// orZero is within for fields whose zero says something of its own.
func orZero(field string, d, low, high time.Duration) error {
	if d == 0 {
		return nil
	}
	return within(field, d, low, high)
}
