package jobs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
)

// Overlap says what becomes of a fire while a job of an earlier fire has not
// finished: while it is enqueued, processing, or waits for a retry.
type Overlap int

const (
	// OverlapAllow, the default, enqueues a job for every fire.
	OverlapAllow Overlap = iota
	// OverlapSkip makes no job and records the fire as skipped.
	OverlapSkip
	// OverlapQueueOne keeps one fire waiting and enqueues it within a second of
	// the end of the job before it; further fires meanwhile are skipped.
	OverlapQueueOne
)

var overlapNames = [...]string{OverlapAllow: "allow", OverlapSkip: "skip", OverlapQueueOne: "queue_one"}

// String gives the name that is stored: "allow", "skip" or "queue_one".
func (o Overlap) String() string {
	if o < 0 || int(o) >= len(overlapNames) {
		return "unknown"
	}
	return overlapNames[o]
}

// ParseOverlap reads what String writes; "" is OverlapAllow.
func ParseOverlap(name string) (Overlap, error) {
	for o, n := range overlapNames {
		if name == n || name == "" {
			return Overlap(o), nil
		}
	}
	return 0, inputError("overlap", "%.40q is none of allow, skip and queue_one", name)
}

// RecurringSpec says what a recurring job enqueues and when. Only ID, Spec and
// Kind have to be set.
type RecurringSpec struct {
	// ID names it: 1 to 200 printable characters.
	ID string
	// Spec is a cron expression of 5 fields, or 6 with seconds first, a macro such
	// as @hourly, or "@every 90s"; see package schedule. An interval counts from
	// Start, without one from the moment it was first stored.
	Spec string
	// Zone is an IANA name such as Europe/Istanbul; empty means UTC.
	Zone string
	Kind string
	Args json.RawMessage // a JSON object; empty means {}
	// Queue of the jobs; empty: the kind's.
	Queue    string
	Priority int
	Misfire  schedule.Misfire
	Overlap  Overlap
	// Retry is the policy of the jobs; nil: the kind's. It is stored, so it can
	// hold neither functions nor matchers. A retry that would start within a
	// second of the next fire, or after it, is dropped: the job fails, and the
	// next fire does its work.
	Retry   *RetryPolicy
	Timeout time.Duration // 0: the kind's
	// Start and End limit the fires, both included; zero: no limit.
	Start, End time.Time
	// Paused keeps it from firing until a person resumes it. It counts when the
	// recurring job is first stored; later only people pause and resume.
	Paused bool
}

// RecurringOption configures a recurring job that is declared in code.
type RecurringOption func(*RecurringSpec) error

// Zone sets the time zone, an IANA name; else UTC.
func Zone(name string) RecurringOption {
	return func(s *RecurringSpec) error { s.Zone = name; return nil }
}

// MisfireRule says what becomes of fires that nobody handled in time; else
// schedule.RunOnce.
func MisfireRule(m schedule.Misfire) RecurringOption {
	return func(s *RecurringSpec) error { s.Misfire = m; return nil }
}

// OverlapRule says what becomes of a fire while an earlier job runs; else
// OverlapAllow.
func OverlapRule(o Overlap) RecurringOption {
	return func(s *RecurringSpec) error { s.Overlap = o; return nil }
}

// RecurringRetry gives the jobs a policy of their own; see RecurringSpec.Retry.
func RecurringRetry(p RetryPolicy) RecurringOption {
	return func(s *RecurringSpec) error { s.Retry = &p; return nil }
}

// OnRecurringQueue puts the jobs on a queue other than their kind's.
func OnRecurringQueue(name string) RecurringOption {
	return func(s *RecurringSpec) error { s.Queue = name; return checkQueue(name) }
}

// Paused stores the recurring job paused when it is new.
func Paused() RecurringOption {
	return func(s *RecurringSpec) error { s.Paused = true; return nil }
}

// Between limits the fires to start up to end, both included; a zero time is no
// limit.
func Between(start, end time.Time) RecurringOption {
	return func(s *RecurringSpec) error { s.Start, s.End = start, end; return nil }
}

// Recurring declares a recurring job: a job of args for every fire of spec, by
// exactly one server, however many run. Call it before Run, which stores it;
// what is wrong with it is returned by Run, which then starts nothing.
//
// The database keeps it: next fire, pauses and edits by people survive restarts.
// Changed code takes effect when a server starts with it and overwrites edits by
// people; unchanged code changes nothing. One that no running server declares
// any more is marked as removed by the servers that handle its kind, and comes
// back when it is declared again.
func (c *Client) Recurring(id, spec string, args Args, opts ...RecurringOption) {
	s := RecurringSpec{ID: id, Spec: spec}
	var err error
	if args == nil {
		err = inputError("args", "is nil")
	} else {
		var text string
		s.Kind = args.Kind()
		text, err = encodeArgs(args, c.cfg.MaxArgs)
		s.Args = json.RawMessage(text)
	}
	for _, opt := range opts {
		if e := opt(&s); e != nil && err == nil {
			err = e
		}
	}
	if err == nil {
		_, err = c.recurringRow(s, time.Now())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.recurring[id]; twice && err == nil {
		err = inputError("id", "is declared twice")
	}
	if err != nil {
		c.problems = append(c.problems, fmt.Errorf("recurring job %.210q: %w", id, err))
		return
	}
	if c.recurring == nil {
		c.recurring = map[string]RecurringSpec{}
	}
	c.recurring[id] = s
}
