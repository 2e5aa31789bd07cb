// Package jobstest helps to test programs that use jobs: it runs one job inline
// without a database, and finds what was enqueued.
package jobstest

import (
	"context"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
)

// Option configures Run.
type Option func(*options)

type options struct {
	ctx     context.Context
	attempt int
	policy  jobs.RetryPolicy
	timeout time.Duration
	queue   string
}

// Attempt says which attempt runs: n-1 retries were used before it. Default 1.
func Attempt(n int) Option { return func(o *options) { o.attempt = n } }

// Policy judges the outcome; default jobs.DefaultRetry.
func Policy(p jobs.RetryPolicy) Option { return func(o *options) { o.policy = p } }

// Timeout ends the handler's context after d; default none.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Context is the parent of the handler's context; default t.Context.
func Context(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// Run runs fn once with args, as the engine would: args travel through JSON,
// panics and Goexit are caught, the policy judges. It returns what the engine
// would write, and fails the test only if the job could not exist: args that
// cannot be stored, a policy that is refused.
func Run[T jobs.Args](t testing.TB, fn func(context.Context, *jobs.Job[T]) error, args T, opts ...Option) jobs.Verdict {
	t.Helper()
	o := options{ctx: t.Context(), attempt: 1, policy: jobs.DefaultRetry(), queue: jobs.DefaultQueue}
	for _, opt := range opts {
		opt(&o)
	}
	now := time.Now()
	job := jobs.Job[T]{ID: 1, Args: args, Attempt: o.attempt, Retry: max(0, o.attempt-1), Queue: o.queue,
		CreatedAt: now, EnqueuedAt: now, StartedAt: now}
	v, err := jobs.Try(o.ctx, fn, job, o.policy, o.timeout)
	if err != nil {
		t.Fatalf("the job cannot run: %v", err)
	}
	return v
}
