package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
)

// EnqueueResult is what became of a job given to Enqueue.
type EnqueueResult struct {
	ID int64
	// State is Enqueued, or Scheduled when the job was given a time to come, or
	// Awaiting (Deleted, if in vain) when it was given a parent; of a duplicate, the
	// state in which the other job is.
	State State
	// Duplicate: another job holds the unique key, and ID is that job's. Nothing
	// was stored.
	Duplicate bool
}

// Item is one job of EnqueueMany.
type Item struct {
	Args    Args
	Options []EnqueueOption
}

// EnqueueOption configures one job.
type EnqueueOption func(*store.NewJob) error

// Queue puts the job on a queue other than its kind's. Names are 1 to 200
// printable characters and match exactly, upper and lower case included.
func Queue(name string) EnqueueOption {
	return func(j *store.NewJob) error { j.Queue = name; return checkQueue(name) }
}

// Priority orders jobs within a queue, from -4 to 4: the higher number runs
// first, the default is 0. Within a priority the job that became ready first
// runs first. The rule is strict: a lower priority waits while a higher one has jobs.
func Priority(p int) EnqueueOption {
	return func(j *store.NewJob) error { j.Priority = int16(p); return checkPriority(p) }
}

// At schedules the job for t. A past or zero time means now; after the year 9999
// it is refused.
func At(t time.Time) EnqueueOption {
	return func(j *store.NewJob) error {
		if t.UTC().Year() > 9999 {
			return inputError("at", "the year %d (UTC) is after 9999", t.UTC().Year())
		}
		if !t.IsZero() && t.After(time.Unix(0, 0)) {
			j.At = t
		}
		return nil
	}
}

// In schedules the job for d from now by the database's clock; 0 or less is now.
func In(d time.Duration) EnqueueOption {
	return func(j *store.NewJob) error { j.In = d; return nil }
}

// WithRetry gives the job a policy of its own, which comes before its kind's. It
// is stored with the job, so it cannot hold functions or error values.
func WithRetry(p RetryPolicy) EnqueueOption {
	return func(j *store.NewJob) (err error) {
		j.Policy, err = encodeJobPolicy(p)
		return err
	}
}

// WithTimeout gives the job a timeout of its own, from 1 ms to MaxWait.
func WithTimeout(d time.Duration) EnqueueOption {
	return func(j *store.NewJob) error { j.Timeout = d; return checkTimeout(d) }
}

// Enqueue stores one job and returns after its commit. Calls at the same time
// share a statement. When the connection breaks before the answer the job may be
// there all the same; a context that ends means the same.
func (c *Client) Enqueue(ctx context.Context, args Args, opts ...EnqueueOption) (EnqueueResult, error) {
	job, err := c.newJob(args, opts)
	if err != nil {
		return EnqueueResult{}, err
	}
	return c.enqueueOne(ctx, job)
}

// EnqueueRaw is Enqueue for args that are JSON already, of any kind: a kind that
// no server handles stays enqueued, and the dashboard says so.
func (c *Client) EnqueueRaw(ctx context.Context, kind string, args json.RawMessage, opts ...EnqueueOption) (EnqueueResult, error) {
	job, err := c.newRawJob(kind, args, opts)
	if err != nil {
		return EnqueueResult{}, err
	}
	return c.enqueueOne(ctx, job)
}

// EnqueueTx stores a job in the caller's transaction: invisible until it
// commits, gone when it rolls back, started within one wake-up after the commit.
func (c *Client) EnqueueTx(ctx context.Context, tx Querier, args Args, opts ...EnqueueOption) (EnqueueResult, error) {
	results, err := c.EnqueueManyTx(ctx, tx, []Item{{Args: args, Options: opts}})
	if err != nil {
		return EnqueueResult{}, err
	}
	return results[0], nil
}

// EnqueueMany stores all jobs or none. The results are in the order of items.
func (c *Client) EnqueueMany(ctx context.Context, items []Item) (all []EnqueueResult, err error) {
	list, err := c.newJobs(items)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ended := c.traced(ctx, list)
	defer func() { ended(all, err) }()
	if inTx(list) {
		created, err := c.enqueueInTx(ctx, list)
		return results(created), err
	}
	if len(list) <= maxStatement {
		created, err := c.flushSingles(ctx, list)
		return results(created), err
	}
	var created []store.Created
	err = c.db.Tx(ctx, func(tx *sqlx.Tx) (err error) {
		created, err = c.enqueueChunks(ctx, tx, list)
		return err
	})
	c.enqueued(list, created, err)
	if err != nil {
		return nil, err
	}
	return results(created), nil
}

// EnqueueManyTx is EnqueueMany in the caller's transaction.
func (c *Client) EnqueueManyTx(ctx context.Context, tx Querier, items []Item) (all []EnqueueResult, err error) {
	list, err := c.newJobs(items)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ended := c.traced(ctx, list)
	defer func() { ended(all, err) }()
	created, err := c.enqueueChunks(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	return results(created), nil
}

// maxStatement bounds the jobs of one statement: more is not faster.
const maxStatement = 2000

func (c *Client) enqueueChunks(ctx context.Context, tx Querier, list []store.NewJob) (all []store.Created, err error) {
	for len(list) > 0 {
		n := min(len(list), maxStatement)
		enqueue := c.db.EnqueueIn
		if anyUnique(list[:n]) {
			enqueue = c.db.EnqueueUnique
		}
		created, err := enqueue(ctx, tx, list[:n], queuesOf(list[:n]))
		if err != nil {
			return nil, noParent(err)
		}
		all, list = append(all, created...), list[n:]
	}
	return all, nil
}

func (c *Client) enqueueOne(ctx context.Context, job store.NewJob) (EnqueueResult, error) {
	return c.tracedOne(ctx, job, func(list []store.NewJob) (store.Created, error) {
		if !inTx(list) {
			return c.single.do(ctx, list[0])
		}
		created, err := c.enqueueInTx(ctx, list)
		if err != nil {
			return store.Created{}, err
		}
		return created[0], nil
	})
}

func (c *Client) flushSingles(ctx context.Context, list []store.NewJob) ([]store.Created, error) {
	created, err := c.db.Enqueue(ctx, list, c.waking.lead(list))
	c.enqueued(list, created, err)
	return created, err
}

// enqueued wakes this process directly and shows the new jobs on the dashboard.
func (c *Client) enqueued(list []store.NewJob, created []store.Created, err error) {
	if err != nil {
		return
	}
	if hook := c.cfg.Hooks.Enqueued; hook != nil {
		tell(c.log, "Enqueued", func() { hook(results(created)) })
	}
	e := c.engine.Load()
	if e == nil {
		return
	}
	ready := false
	for i, one := range created {
		if one.Duplicate {
			continue
		}
		switch one.State {
		case store.Enqueued:
			ready = true
		case store.Scheduled:
			e.scheduler.due(list[i])
		case store.Awaiting:
			e.continuer.look(list[i].Parent)
		}
		c.changes.add(one.ID)
	}
	if ready {
		e.claimer.wake()
	}
}

func results(created []store.Created) []EnqueueResult {
	if created == nil {
		return nil
	}
	all := make([]EnqueueResult, len(created))
	for i, one := range created {
		all[i] = EnqueueResult(one)
	}
	return all
}
