package jobs

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Args are the arguments of a job: a struct that encodes to a JSON object. Kind
// names what handles it; the zero value of the type must answer too.
type Args interface{ Kind() string }

// Job is one attempt of a job, as its handler sees it.
type Job[T Args] struct {
	ID   int64
	Args T
	// Attempt is the number of this run: 1 at first, and it only grows.
	Attempt int
	// Retry is how many automatic retries led here, of at most MaxRetries.
	Retry, MaxRetries int
	Queue, Kind       string
	// CreatedAt, EnqueuedAt and StartedAt are by the database's clock.
	// EnqueuedAt is when this attempt became ready.
	CreatedAt, EnqueuedAt, StartedAt time.Time
	// RecurringID names the recurring job that made this one, empty if none did;
	// FireAt is the due time that it stands for, the same in every attempt.
	RecurringID string
	FireAt      time.Time

	attempt *attempt // nil outside of an engine
}

// HandleOption configures a kind.
type HandleOption func(*handler) error

// Retry gives the kind a policy of its own, taken literally: RetryPolicy{} runs once.
func Retry(p RetryPolicy) HandleOption {
	return func(h *handler) error { h.policy = &p; return p.Validate() }
}

// OnQueue sets the queue for jobs of the kind that name none; else DefaultQueue.
//
// Run refuses a queue that is in neither Config.Queues, if those are set, nor
// Config.OtherQueues.
func OnQueue(name string) HandleOption {
	return func(h *handler) error { h.queue, h.placed = name, true; return checkQueue(name) }
}

// Timeout ends the context of each run of the kind after d; from 1 ms to
// MaxWait. Without it Config.Timeout applies.
func Timeout(d time.Duration) HandleOption {
	return func(h *handler) error { h.timeout = d; return checkTimeout(d) }
}

// AtMost limits how many jobs of the kind run at once on all servers together.
// Those beyond it stay enqueued: they hold no worker and write no history. From
// 1 to 10,000. Servers with different limits each keep to their own.
func AtMost(n int) HandleOption {
	return func(h *handler) error { h.limit = n; return checkLimit("AtMost", n) }
}

// Keep gives the kind's finished jobs a retention of their own; a zero field
// means Config.Retention, a negative one for ever.
func Keep(r Retention) HandleOption {
	return func(h *handler) error { h.keep = &r; return nil }
}

func checkLimit(field string, n int) error {
	if n < 1 || n > 10_000 {
		return inputError(field, "%d is outside 1 to 10000", n)
	}
	return nil
}

func checkTimeout(d time.Duration) error {
	if d < time.Millisecond || d > MaxWait {
		return inputError("timeout", "%v is outside 1ms to %v", d, MaxWait)
	}
	return nil
}

type handler struct {
	kind    string
	queue   string
	placed  bool          // by OnQueue
	policy  *RetryPolicy  // nil: the client's
	timeout time.Duration // 0: the client's
	limit   int           // running at once on all servers; 0: no limit
	keep    *Retention    // nil: the client's

	checks   []func(Plan) ([]string, error)
	warnings []string // of the checks

	middleware []Middleware
	run        func(ctx context.Context, a *attempt) error
}

// Handle registers fn for the kind of T. Call it before Run; what is wrong with
// a registration (two handlers for a kind, a policy that cannot work) is
// reported by Run, which then starts nothing.
//
// fn returns nil when the work is done; an error, a panic or runtime.Goexit is a
// failed attempt, and the retry policy decides what follows. Permanent, Cancel,
// Snooze and RetryAfter let fn decide itself.
func Handle[T Args](c *Client, fn func(context.Context, *Job[T]) error, opts ...HandleOption) {
	kind, err := kindOf[T]()
	h := &handler{kind: kind, queue: DefaultQueue}
	for i, opt := range opts {
		if opt == nil {
			opt = func(*handler) error { return inputError(fmt.Sprintf("opts[%d]", i), "is nil") }
		}
		if e := opt(h); e != nil && err == nil {
			err = e
		}
	}
	if fn == nil && err == nil {
		err = inputError("handler", "is nil")
	}
	if err == nil {
		err = c.judge(h)
	}
	h.run = handlerFor(fn).run
	c.register(h, err)
}

// kindOf asks the zero value of T, which for a pointer is nil.
func kindOf[T Args]() (kind string, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = inputError("kind", "the zero value of %v cannot tell it: %s", reflect.TypeFor[T](), describe(value))
		}
	}()
	var zero T
	kind = zero.Kind()
	return kind, checkKind(kind)
}

// handlerFor decodes the args and calls fn.
func handlerFor[T Args](fn func(context.Context, *Job[T]) error) *handler {
	return &handler{run: func(ctx context.Context, a *attempt) error {
		job := &Job[T]{ID: a.ID, Attempt: a.Attempt, Retry: a.Retry, MaxRetries: a.policy.MaxRetries,
			Queue: a.Queue, Kind: a.Kind, CreatedAt: a.CreatedAt, EnqueuedAt: a.ReadyAt, StartedAt: a.StartedAt,
			RecurringID: a.RecurringID, FireAt: a.FireAt, attempt: a}
		if err := decodeArgs([]byte(a.Args), &job.Args); err != nil {
			return err
		}
		return fn(ctx, job)
	}}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
