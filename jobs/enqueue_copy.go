package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
)

// Copy says which job is enqueued again, and what its copy has of its own.
type Copy struct {
	// Of is the original, in the state in which whoever asks has seen it: one that
	// somebody requeued meanwhile would do its work twice.
	Of    Target
	Args  json.RawMessage // nil: as stored
	Queue string          // empty: the original's
	In    time.Duration   // as the option In
}

// EnqueueCopy enqueues a job like another one, in whatever state that is: its kind,
// priority, tags, and the policy and timeout that it was given itself. A unique key, a
// parent and a recurring job's fire stay the original's, and what is counted begins
// anew. The first row of the copy's history and the audit name the actor and the
// original. tx is the caller's transaction; nil is one of its own.
//
// store.ErrNotFound: the original is gone. store.ErrStateChanged: it is in another
// state than expected, and nothing was enqueued.
func (c *Client) EnqueueCopy(ctx context.Context, tx Querier, actor string, copy Copy) (result EnqueueResult, err error) {
	if err := checkActor(actor); err != nil {
		return EnqueueResult{}, err
	}
	if tx != nil {
		result, _, err = c.enqueueCopy(ctx, tx, actor, copy)
		return result, err
	}
	var job store.NewJob
	err = c.db.Tx(ctx, func(tx *sqlx.Tx) (err error) {
		result, job, err = c.enqueueCopy(ctx, tx, actor, copy)
		return err
	})
	c.enqueued([]store.NewJob{job}, []store.Created{store.Created(result)}, err)
	if err != nil {
		return EnqueueResult{}, err
	}
	return result, nil
}

func (c *Client) enqueueCopy(ctx context.Context, tx Querier, actor string, copy Copy) (EnqueueResult, store.NewJob, error) {
	of, err := c.db.Original(ctx, tx, copy.Of.ID)
	if err != nil {
		return EnqueueResult{}, store.NewJob{}, err
	}
	if of.State != copy.Of.Expected {
		return EnqueueResult{}, store.NewJob{}, fmt.Errorf("copy job %d, which is %s: %w", of.ID, of.State, store.ErrStateChanged)
	}
	job, err := c.copyOf(of, copy)
	if err != nil {
		return EnqueueResult{}, store.NewJob{}, err
	}
	result, err := c.tracedOne(ctx, job, func(list []store.NewJob) (store.Created, error) {
		return c.db.EnqueueCopy(ctx, tx, actor, of.ID, list[0], queuesOf(list))
	})
	return result, job, err
}

// CheckCopy gives the *InputError that EnqueueCopy would give for what is asked for,
// or nil. It changes nothing.
func (c *Client) CheckCopy(of store.Original, copy Copy) error {
	_, err := c.copyOf(of, copy)
	return err
}

func (c *Client) copyOf(of store.Original, copy Copy) (store.NewJob, error) {
	args, queue := copy.Args, copy.Queue
	if args == nil {
		args = of.Args
	}
	if queue == "" {
		queue = of.Queue
	}
	job, err := c.newRawJob(of.Kind, args, []EnqueueOption{Queue(queue), Priority(int(of.Priority)), Tags(of.Tags...), In(copy.In)})
	job.Policy, job.Timeout = string(of.Policy), of.Timeout // checked when the original was enqueued
	return job, err
}
