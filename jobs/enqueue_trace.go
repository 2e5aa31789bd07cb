package jobs

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/tekrar/tekrar/store"
)

// maxTrace bounds what is stored with each job.
const maxTrace = 1000

// traced tells the hook of an enqueue and stores its trace with the jobs. The
// caller passes its results to ended.
func (c *Client) traced(ctx context.Context, list []store.NewJob) (ended func([]EnqueueResult, error)) {
	ended = func([]EnqueueResult, error) {}
	hook := c.cfg.Hooks.Enqueuing
	if hook == nil {
		return ended
	}
	kinds := make([]string, len(list))
	for i, j := range list {
		kinds[i] = j.Kind
	}
	tell(c.log, "Enqueuing", func() {
		trace, after := hook(ctx, kinds)
		if len(trace) > maxTrace || !utf8.ValidString(trace) || strings.ContainsRune(trace, 0) {
			c.log.Warn("trace of an enqueue left out: it has more than 1,000 bytes, or is no text")
			trace = ""
		}
		for i := range list {
			list[i].Trace = trace
		}
		if after != nil {
			ended = func(all []EnqueueResult, err error) {
				tell(c.log, "Enqueuing", func() { after(all, err) })
			}
		}
	})
	return ended
}

// tracedOne is the enqueue of one job with its trace.
func (c *Client) tracedOne(ctx context.Context, job store.NewJob, enqueue func([]store.NewJob) (store.Created, error)) (EnqueueResult, error) {
	list := []store.NewJob{job}
	ended := c.traced(ctx, list)
	created, err := enqueue(list)
	if err != nil {
		ended(nil, err)
		return EnqueueResult{}, err
	}
	one := EnqueueResult(created)
	ended([]EnqueueResult{one}, nil)
	return one, nil
}
