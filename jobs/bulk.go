package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tekrar/tekrar/store"
)

// Bulk asks for one action on all jobs that a filter holds.
type Bulk struct {
	Action string // requeue, delete, restore
	Budget Budget // of a requeue
	Filter store.JobFilter
	// SeenAt is when its person was shown the list, by the database's clock; jobs
	// that came into it later are left alone. Zero: now.
	SeenAt time.Time
	// Expected is the count that the person was shown; it is kept for the record.
	Expected int64
}

// StartBulk writes the operation and its audit row, and begins to work it off in
// chunks, independent of ctx. Its progress is store.DB.Bulk. When this process
// ends before it is done, another engine goes on within about a minute.
func (c *Client) StartBulk(ctx context.Context, actor string, b Bulk) (id int64, err error) {
	if err := checkActor(actor); err != nil {
		return 0, err
	}
	if !slices.Contains([]string{"requeue", "delete", "restore"}, b.Action) {
		return 0, inputError("action", "has to be requeue, delete or restore")
	}
	if b.SeenAt.IsZero() {
		b.SeenAt = time.Now().Add(time.Hour) // the store takes the earlier of this and its own now
	}
	id, err = c.db.BeginBulk(ctx, actor, store.NewBulk{
		Action: b.Action, Fresh: b.Budget == FreshBudget, Filter: b.Filter, SeenAt: b.SeenAt, Expected: b.Expected,
	})
	if err == nil {
		go c.runBulk(id)
	}
	return id, err
}

// UndoBulk restores the jobs that a bulk deletion deleted and that nobody moved
// since, as an operation of its own. store.ErrStateChanged: it is no deletion that
// has ended, or is undone already.
func (c *Client) UndoBulk(ctx context.Context, actor string, id int64) (undo int64, err error) {
	if err := checkActor(actor); err != nil {
		return 0, err
	}
	undo, err = c.db.BeginUndo(ctx, actor, id)
	if err == nil {
		go c.runBulk(undo)
	}
	return undo, err
}

// StopBulk ends an operation after its present chunk; what it did stays.
func (c *Client) StopBulk(ctx context.Context, actor string, id int64) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	return c.db.StopBulk(ctx, actor, id)
}

// ContinueBulk lets an operation go on that was stopped, given up, or left by a
// process that is gone.
func (c *Client) ContinueBulk(ctx context.Context, actor string, id int64) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	err := c.db.ContinueBulk(ctx, actor, id)
	if err == nil {
		go c.runBulk(id)
	}
	return err
}

// MuteFailures keeps a group of failures, now and later, out of the verdict.
func (c *Client) MuteFailures(ctx context.Context, actor, kind string, fingerprint int64) error {
	if err := cmp.Or(checkActor(actor), checkKind(kind)); err != nil {
		return err
	}
	return c.db.MuteFailures(ctx, actor, kind, fingerprint)
}

// UnmuteFailures undoes MuteFailures.
func (c *Client) UnmuteFailures(ctx context.Context, actor, kind string, fingerprint int64) error {
	if err := cmp.Or(checkActor(actor), checkKind(kind)); err != nil {
		return err
	}
	return c.db.UnmuteFailures(ctx, actor, kind, fingerprint)
}

const (
	bulksKept    = 30 * 24 * time.Hour
	bulkPatience = 8 // tries of one chunk, in about half a minute
)

// resumeBulks goes on with operations whose process is gone, and forgets old ones.
func (c *Client) resumeBulks(ctx context.Context) error {
	ids, err := c.db.IdleBulks(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		go c.runBulk(id)
	}
	return c.db.PruneBulks(ctx, bulksKept)
}

// runBulk works an operation off. The runner's token is new each time: of two that
// take up the same one, the second finds it held.
func (c *Client) runBulk(id int64) {
	ctx, runner := context.Background(), rand.Text()
	for tries := 0; ; {
		step, err := c.db.RunBulk(ctx, runner, id)
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			return
		case err != nil && store.IsRetryable(err) && tries < bulkPatience:
			tries++
			time.Sleep(jitter(time.Duration(tries) * time.Second))
			continue
		case err != nil:
			c.log.Error("bulk operation given up", "id", id, "err", err)
			why := fmt.Sprintf("An error ended it; the log of %s has it. What was done stays done.", c.cfg.Name)
			if err := c.db.FailBulk(ctx, runner, id, why); err != nil {
				c.log.Error("bulk operation not marked as given up", "id", id, "err", err)
			}
			return
		}
		tries = 0
		c.moved(step.Moved)
		if step.Bulk.State != store.BulkRunning {
			c.log.Info("bulk operation ended", "id", id, "action", step.Bulk.Action, "jobs", step.Bulk.Done, "skipped", step.Bulk.Skipped)
			return
		}
	}
}
