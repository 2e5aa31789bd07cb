package jobs

import (
	"context"
	"encoding/json"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
)

// EnqueueAs is EnqueueRaw for somebody outside of the program: the audit names the
// actor with the job, in one transaction. tx is the caller's transaction; nil is one
// of its own. A duplicate changes nothing and is not audited.
func (c *Client) EnqueueAs(ctx context.Context, tx Querier, actor, kind string, args json.RawMessage, opts ...EnqueueOption) (EnqueueResult, error) {
	if err := checkActor(actor); err != nil {
		return EnqueueResult{}, err
	}
	job, err := c.newRawJob(kind, args, opts)
	if err != nil {
		return EnqueueResult{}, err
	}
	return c.tracedOne(ctx, job, func(list []store.NewJob) (store.Created, error) {
		var created []store.Created
		enqueue := func(tx Querier) (err error) {
			if created, err = c.enqueueChunks(ctx, tx, list); err != nil || created[0].Duplicate {
				return err
			}
			return c.db.AuditEnqueue(ctx, tx, actor, created[0].ID, job.Kind, job.Queue)
		}
		if tx != nil {
			err = enqueue(tx)
		} else {
			err = c.db.Tx(ctx, func(tx *sqlx.Tx) error { return enqueue(tx) })
			c.enqueued(list, created, err)
		}
		if err != nil {
			return store.Created{}, err
		}
		return created[0], nil
	})
}
