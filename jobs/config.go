package jobs

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"
)

// DefaultQueue is the queue of jobs and kinds that name none.
const DefaultQueue = "default"

// Config of a Client. The zero value is good for a start; every field says what
// its zero means.
type Config struct {
	// Workers is the number of jobs that run at once in this process. Zero: five
	// a core, at most 20 (Hangfire's default). At most 10,000.
	Workers int

	// Queues lists the queues this process takes jobs from and, for each, the
	// most jobs of it that run at once here, up to Workers; 0 means no limit but
	// Workers. Nil: "default" and the queue of every registered kind and declared
	// recurring job, without limits of their own.
	Queues map[string]int

	// OtherQueues lists queues that other servers take jobs from. Run refuses a
	// registration that names a queue found neither here nor in Queues: its jobs
	// would wait for nobody.
	OtherQueues []string

	// QueueLimits limits, for some queues, how many of their jobs run at once on
	// all servers together; the others wait enqueued. From 1 to 10,000.
	QueueLimits map[string]int

	// Retry is the policy of kinds that have none of their own. Zero value:
	// DefaultRetry. NoRetry says that they run once.
	Retry RetryPolicy

	// Timeout ends the context of a run after that time; the run counts as
	// failed if its handler then returns an error. Zero: none, else from 1 ms to
	// MaxWait. A kind's or job's own timeout comes first.
	Timeout time.Duration

	// Lease is how long this server's jobs stay its own without a heartbeat:
	// after a crash other servers take them over within Lease plus one sweep.
	// Zero: 30 s. At least 1 s, at most 24 h.
	Lease time.Duration

	// Heartbeat is the time between two renewals of the lease. Zero: a third of
	// Lease. It must leave at least two tries within one lease.
	Heartbeat time.Duration

	// Sweep is the time between two looks for lost servers, jittered. Zero: 5 s.
	Sweep time.Duration

	// LossLimit is how many lost servers one job survives: a job that is lost
	// once more fails, since it may be the one that kills them. Zero: 3; negative:
	// 0. At most 1,000.
	LossLimit int

	// Poll is the longest wait of an idle claim when no notification comes,
	// jittered. Zero: 1 s, or 200 ms while there is no LISTEN connection. From 10 ms
	// to 1 h.
	Poll time.Duration

	// PollOnly switches LISTEN off, for poolers that break it.
	PollOnly bool

	// DrainTimeout is how long Run lets running jobs finish after its context
	// ended; then their contexts are cancelled with ErrShutdown. Zero: 25 s;
	// negative: cancel at once.
	DrainTimeout time.Duration

	// StopGrace is how long a cancelled handler may take to return; what still
	// runs then is named in the log and left to other servers. Zero: 5 s.
	StopGrace time.Duration

	// Webhook is an address that is told, once an episode, when first attempts
	// succeed less often than usual; see EarlyWarning. This client then handles jobs
	// of WarningKind, which POST a WarningNote with an Idempotency-Key, retried for
	// about 40 minutes; redirects are not followed. Whoever sets it decides where this
	// process connects to, private networks included: never take it from a user.
	// Http and https only. Empty: nobody is told. Any number of servers may set it.
	Webhook string

	// Retention is how long finished jobs and their history are kept.
	Retention Retention

	// Middleware wraps the handlers of all kinds, the first one outermost.
	Middleware []Middleware

	// Hooks are told what happens.
	Hooks Hooks

	// MaxArgs is the largest size of a job's args in bytes of JSON. Zero: 1 MiB; at
	// most 64 MiB.
	MaxArgs int

	// Name of this server on the dashboard: as a queue's, see Queue. Zero: host
	// name and process id.
	Name string

	// Version of the program, shown with the server; the rules are those of Name.
	// Zero: empty.
	Version string

	// Logger for everything the client has to say. Zero: slog.Default().
	Logger *slog.Logger
}

// Retention of finished jobs. Failed jobs are kept until a person requeues or
// deletes them.
type Retention struct {
	// Succeeded jobs. Zero: 24 h; negative: for ever.
	Succeeded time.Duration
	// Deleted jobs, which can be restored until then. Zero: 7 days; negative: for ever.
	Deleted time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if err := c.checkQueues(); err != nil {
		return c, err
	}
	orElse(&c.Workers, min(5*runtime.NumCPU(), 20))
	if c.Retry.isZero() {
		c.Retry = DefaultRetry()
	}
	orElse(&c.Lease, 30*time.Second)
	orElse(&c.Heartbeat, c.Lease/3)
	orElse(&c.Sweep, 5*time.Second)
	orElse(&c.LossLimit, 3)
	c.LossLimit = max(c.LossLimit, 0)
	orElse(&c.DrainTimeout, 25*time.Second)
	orElse(&c.StopGrace, 5*time.Second)
	orElse(&c.Retention.Succeeded, 24*time.Hour)
	orElse(&c.Retention.Deleted, 7*24*time.Hour)
	orElse(&c.MaxArgs, 1<<20)
	if c.Name == "" {
		host, _ := os.Hostname()
		c.Name = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, c.check()
}

func orElse[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
