package jobs

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Verdict is what the engine would write about one attempt.
type Verdict struct {
	State State         // where the job goes
	Wait  time.Duration // until it runs again, if State is Scheduled
	// Reason is the text of the history row of State; Rule says what decided.
	Reason, Rule string
	// Err is what the handler ended with: its error, a *PanicError, ErrGoexit.
	Err error
	// Result is the JSON of SetResult. Log has the lines of Job.Log, of Try only.
	Result string
	Log    []string
}

// Try runs a handler once without a database, as the engine would run it: with
// the timeout, with panics and Goexit caught, judged by the policy. job says
// which attempt it is (Attempt 0 means 1, Retry counts from it); package jobstest
// makes it comfortable.
func Try[T Args](ctx context.Context, fn func(context.Context, *Job[T]) error, job Job[T], p RetryPolicy, timeout time.Duration) (Verdict, error) {
	if err := p.Validate(); err != nil {
		return Verdict{}, err
	}
	text, err := encodeArgs(job.Args, 1<<20)
	if err != nil {
		return Verdict{}, err
	}
	job.Attempt = max(job.Attempt, 1)
	said := newTrial()
	a := &attempt{policy: p, timeout: timeout, reports: said}
	a.ID, a.Attempt, a.Retry = max(job.ID, 1), job.Attempt, job.Retry
	a.Kind, a.Queue, a.Args = job.Args.Kind(), job.Queue, text
	a.CreatedAt, a.ReadyAt, a.StartedAt = job.CreatedAt, job.EnqueuedAt, job.StartedAt
	var res result
	done := make(chan struct{})
	go func() { // Goexit ends this goroutine, not the test's
		defer close(done)
		runHandler(ctx, handlerFor(fn).run, a, &res)
	}()
	<-done
	d := decide(res, p, a.counters(), rand.Float64)
	v := a.verdict(d, res)
	v.Log = said.texts()
	return v, nil
}

func (a *attempt) verdict(d decision, res result) Verdict {
	v := Verdict{State: d.State, Wait: d.Delay, Reason: d.Reason, Rule: d.Rule, Err: res.failure()}
	if d.State == store.Succeeded {
		v.Result = a.result
	}
	return v
}

// newTrial gathers reports without writing them.
func newTrial() *reports { return &reports{latest: map[int64]store.Progress{}, pending: true} }

func (r *reports) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, l := range r.lines {
		list = append(list, l.Line)
	}
	return list
}
