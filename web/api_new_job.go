package web

import (
	"encoding/json"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// apiNewJob is the body of an enqueue. What is not there has the default of its kind.
type apiNewJob struct {
	Kind      string          `json:"kind"`
	Args      json.RawMessage `json:"args"`
	Queue     string          `json:"queue"`
	Priority  int             `json:"priority"`
	RunAt     string          `json:"run_at"`
	DelayMS   int64           `json:"delay_ms"`
	TimeoutMS int64           `json:"timeout_ms"`
	Tags      []string        `json:"tags"`
	Policy    json.RawMessage `json:"policy"`
	Unique    *apiUnique      `json:"unique"`
	After     *apiAfter       `json:"after"`
}

type apiUnique struct {
	Key      string `json:"key"`
	Scope    string `json:"scope"`
	PeriodMS int64  `json:"period_ms"`
}

type apiAfter struct {
	ID        string `json:"id"`
	Condition string `json:"condition"`
}

// maxMS keeps milliseconds within a Duration; the options have limits of their own.
const maxMS = int64(290 * 365 * 24 * time.Hour / time.Millisecond)

func milliseconds(field string, n int64) (time.Duration, error) {
	if n < 0 || n > maxMS {
		return 0, badInput("Field %s: must be from 0 to %d.", field, maxMS)
	}
	return time.Duration(n) * time.Millisecond, nil
}

func (n apiNewJob) options() (list []jobs.EnqueueOption, err error) {
	if n.Kind == "" {
		return nil, badInput("Field kind: must not be empty.")
	}
	if len(n.Args) == 0 {
		return nil, badInput("Field args: must be a JSON object.")
	}
	add := func(o jobs.EnqueueOption) { list = append(list, o) }
	if n.Queue != "" {
		add(jobs.Queue(n.Queue))
	}
	if n.Priority < -4 || n.Priority > 4 {
		return nil, badInput("Field priority: must be a whole number from -4 to 4.")
	}
	add(jobs.Priority(n.Priority))
	if len(n.Tags) > 0 {
		add(jobs.Tags(n.Tags...))
	}
	for _, one := range []func() (jobs.EnqueueOption, error){n.when, n.timeout, n.policy, n.unique, n.after} {
		o, err := one()
		if err != nil {
			return nil, err
		}
		if o != nil {
			add(o)
		}
	}
	return list, nil
}

func (n apiNewJob) when() (jobs.EnqueueOption, error) {
	delay, err := milliseconds("delay_ms", n.DelayMS)
	switch {
	case err != nil:
		return nil, err
	case n.RunAt != "" && delay > 0:
		return nil, badInput("Field delay_ms: goes without run_at.")
	case delay > 0:
		return jobs.In(delay), nil
	case n.RunAt == "":
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339Nano, n.RunAt)
	if err != nil {
		return nil, badInput("Field run_at: must be a time such as 2026-01-31T09:00:00Z.")
	}
	return jobs.At(at), nil
}

func (n apiNewJob) timeout() (jobs.EnqueueOption, error) {
	d, err := milliseconds("timeout_ms", n.TimeoutMS)
	if err != nil || d == 0 {
		return nil, err
	}
	return jobs.WithTimeout(d), nil
}

func (n apiNewJob) policy() (jobs.EnqueueOption, error) {
	policy, err := apiPolicy(n.Policy)
	if policy == nil || err != nil {
		return nil, err
	}
	return jobs.WithRetry(*policy), nil
}

// apiPolicy takes the form in which jobs show theirs, so that one can be copied.
func apiPolicy(raw json.RawMessage) (*jobs.RetryPolicy, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	published, err := jobs.ParsePolicy(raw)
	if err != nil {
		return nil, badInput("Field policy: is no retry policy, as the policy of a job shows one.")
	}
	if len(published.ExceptOn)+len(published.OnlyOn) > 0 {
		return nil, badInput("Field policy: except_on and only_on cannot be stored with a job.")
	}
	policy, err := published.RetryPolicy()
	if err != nil {
		return nil, badInput("Field policy: %s.", err)
	}
	return &policy, nil
}

func (n apiNewJob) unique() (jobs.EnqueueOption, error) {
	if n.Unique == nil {
		return nil, nil
	}
	period, err := milliseconds("unique.period_ms", n.Unique.PeriodMS)
	if err != nil {
		return nil, err
	}
	scope, ok := map[string]jobs.UniqueScope{"while_waiting": jobs.WhileWaiting, "until_finished": jobs.UntilFinished, "period": jobs.For(period)}[n.Unique.Scope]
	if !ok {
		return nil, badInput("Field unique.scope: unknown %s. Known ones: while_waiting, until_finished, period.", shorten(n.Unique.Scope))
	}
	if n.Unique.Key == "" {
		return jobs.UniqueArgs(scope), nil
	}
	return jobs.Unique(n.Unique.Key, scope), nil
}

func (n apiNewJob) after() (jobs.EnqueueOption, error) {
	if n.After == nil {
		return nil, nil
	}
	id, ok := jobID(n.After.ID)
	if !ok {
		return nil, badInput("Field after.id: must be the id of a job, as text.")
	}
	condition, ok := map[string]jobs.Condition{"": jobs.OnSuccess, "success": jobs.OnSuccess, "failure": jobs.OnFailure, "always": jobs.Always}[n.After.Condition]
	if !ok {
		return nil, badInput("Field after.condition: unknown %s. Known ones: success, failure, always.", shorten(n.After.Condition))
	}
	return jobs.After(id, condition), nil
}
