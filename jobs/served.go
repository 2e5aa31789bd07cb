package jobs

import (
	"errors"
	"fmt"
	"slices"
)

// served lists the queues this client takes jobs from, with their limits here.
func (c *Client) served() map[string]int {
	if c.cfg.Queues != nil {
		return c.cfg.Queues
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	queues := map[string]int{DefaultQueue: 0}
	for _, h := range c.kinds {
		queues[h.queue] = 0
	}
	for _, s := range c.recurring {
		if s.Queue != "" {
			queues[s.Queue] = 0
		}
	}
	return queues
}

// unknownQueues refuses what names a queue that no server is known to take jobs
// from. Kinds that name none are left alone: their jobs may be given a queue when
// they are enqueued.
func (c *Client) unknownQueues() error {
	served := c.served()
	var errs []error
	look := func(what, field, queue string) {
		if _, ok := served[queue]; !ok && !slices.Contains(c.cfg.OtherQueues, queue) {
			errs = append(errs, fmt.Errorf("%s: %w", what, inputError(field, "%q is in neither Config.Queues nor Config.OtherQueues: its jobs would wait for nobody", queue)))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range sortedKeys(c.kinds) {
		if h := c.kinds[kind]; h.placed {
			look(fmt.Sprintf("handle kind %q", kind), "queue", h.queue)
		}
	}
	for _, id := range sortedKeys(c.recurring) {
		if queue := c.recurring[id].Queue; queue != "" {
			look(fmt.Sprintf("recurring job %q", id), "queue", queue)
		}
	}
	for _, queue := range sortedKeys(c.cfg.QueueLimits) {
		look("client", fmt.Sprintf("Config.QueueLimits[%q]", queue), queue)
	}
	return errors.Join(errs...)
}

// warnOfNarrowPool: handlers that use the pool of DB together with the engine wait
// for each other when somebody has made it smaller than the workers are many. The
// engine's own statements have connections of their own and go on.
func (c *Client) warnOfNarrowPool() {
	if n := c.db.Stats().MaxOpenConnections; n > 0 && n < min(c.cfg.Workers, defaultPool) {
		c.log.Warn("the pool of DB is smaller than the workers are many: handlers that use it wait for each other",
			"field", "Config.Workers", "workers", c.cfg.Workers, "connections", n)
	}
}

// defaultPool is the size that jobs.Open gives the pool: nobody made that narrow.
const defaultPool = 8
