package jobs

import (
	"encoding/json"
	"fmt"

	"github.com/tekrar/tekrar/store"
)

func (c *Client) newJob(args Args, opts []EnqueueOption) (store.NewJob, error) {
	if args == nil {
		return store.NewJob{}, inputError("args", "is nil")
	}
	text, err := encodeArgs(args, c.cfg.MaxArgs)
	if err != nil {
		return store.NewJob{}, err
	}
	return c.withOptions(store.NewJob{Kind: args.Kind(), Args: text}, opts)
}

func (c *Client) newRawJob(kind string, args json.RawMessage, opts []EnqueueOption) (store.NewJob, error) {
	text, err := checkRawArgs(args, c.cfg.MaxArgs)
	if err != nil {
		return store.NewJob{}, err
	}
	return c.withOptions(store.NewJob{Kind: kind, Args: text}, opts)
}

func (c *Client) withOptions(job store.NewJob, opts []EnqueueOption) (store.NewJob, error) {
	if err := checkKind(job.Kind); err != nil {
		return store.NewJob{}, err
	}
	job.Queue = DefaultQueue
	if h := c.handlerOf(job.Kind); h != nil {
		job.Queue = h.queue
	}
	for i, opt := range opts {
		if opt == nil {
			return store.NewJob{}, inputError(fmt.Sprintf("opts[%d]", i), "is nil")
		}
		if err := opt(&job); err != nil {
			return store.NewJob{}, err
		}
	}
	return job, checkParent(job)
}

func (c *Client) newJobs(items []Item) ([]store.NewJob, error) {
	list := make([]store.NewJob, len(items))
	for i, item := range items {
		job, err := c.newJob(item.Args, item.Options)
		if err != nil {
			return nil, fmt.Errorf("item %d of %d: %w", i, len(items), err)
		}
		list[i] = job
	}
	return list, nil
}

// queuesOf lists the queues that have something to run now.
func queuesOf(list []store.NewJob) []string {
	var queues []string
	seen := map[string]bool{}
	for _, j := range list {
		if !seen[j.Queue] && j.In <= 0 && j.At.IsZero() && j.Parent == 0 {
			seen[j.Queue] = true
			queues = append(queues, j.Queue)
		}
	}
	return queues
}
