package jobs

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/tekrar/tekrar/store"
)

// Target is a job and the state in which a person saw it: an action is done only
// if the job is still there.
type Target = store.Target

// Moved is what became of a Target. Err is nil, store.ErrNotFound, or
// store.ErrStateChanged with the state in which the job is now.
type Moved = store.Moved

// Budget says what a requeue by a person does to the retry counter.
type Budget int

const (
	// KeepRetries keeps the counter: after an exhausted budget the job runs
	// once, and a failure is final (Hangfire's requeue).
	KeepRetries Budget = iota
	// FreshBudget starts the counter at 0.
	FreshBudget
)

// MaxTargets bounds one action.
const MaxTargets = 10_000

// Requeue enqueues scheduled, failed, succeeded or deleted jobs again, and awaiting
// ones without their parent. A
// processing job is refused with store.ErrStateChanged: it would run twice at once.
func (c *Client) Requeue(ctx context.Context, actor string, b Budget, targets ...Target) ([]Moved, error) {
	return c.act(actor, targets, func() ([]Moved, error) {
		return c.db.Requeue(ctx, actor, b == FreshBudget, targets)
	})
}

// Delete ends jobs in any state. The context of a processing one is cancelled
// with ErrDeleted within two seconds, and what its handler then returns is kept
// as a late result.
func (c *Client) Delete(ctx context.Context, actor string, targets ...Target) ([]Moved, error) {
	return c.act(actor, targets, func() ([]Moved, error) { return c.db.Delete(ctx, actor, targets) })
}

// Restore enqueues deleted jobs again; they can be restored until their
// retention ends.
func (c *Client) Restore(ctx context.Context, actor string, targets ...Target) ([]Moved, error) {
	return c.act(actor, targets, func() ([]Moved, error) { return c.db.Restore(ctx, actor, targets) })
}

// PauseQueue stops claims from a queue on all servers; running jobs go on.
func (c *Client) PauseQueue(ctx context.Context, actor, queue string) error {
	if err := checkAction(actor, queue); err != nil {
		return err
	}
	return c.db.PauseQueue(ctx, actor, queue)
}

// ResumeQueue lets claims from a paused queue go on.
func (c *Client) ResumeQueue(ctx context.Context, actor, queue string) error {
	if err := checkAction(actor, queue); err != nil {
		return err
	}
	return c.db.ResumeQueue(ctx, actor, queue)
}

func checkAction(actor, queue string) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	return checkQueue(queue)
}

func (c *Client) act(actor string, targets []Target, move func() ([]Moved, error)) ([]Moved, error) {
	if err := checkActor(actor); err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		return nil, inputError("targets", "none is given: name at least one job")
	}
	if len(targets) > MaxTargets {
		return nil, inputError("targets", "%d jobs: at most %d in one action", len(targets), MaxTargets)
	}
	moved, err := move()
	ids := make([]int64, 0, len(moved))
	for _, m := range moved {
		if m.Err == nil {
			ids = append(ids, m.ID)
		}
	}
	c.moved(ids)
	return moved, err
}

// moved tells those who wait for it. A person does: it is published whether or not
// an engine knows of a watcher.
func (c *Client) moved(ids []int64) {
	c.changes.watched()
	c.changes.add(ids...)
	if e := c.engine.Load(); e != nil && len(ids) > 0 {
		e.claimer.wake()
		e.held.look()
	}
}

func checkActor(actor string) error {
	if strings.TrimSpace(actor) == "" || utf8.RuneCountInString(actor) > MaxNameLength || !utf8.ValidString(actor) || strings.ContainsRune(actor, 0) {
		return inputError("actor", "has to be 1 to %d characters of valid text: history names who did it", MaxNameLength)
	}
	return nil
}
