package jobs

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

// SaveRecurring stores a recurring job for a person, new or in place of the one
// of that ID. An edit is active everywhere within a second. It keeps the pause; a
// changed expression, zone or limit sets the next fire anew. A job that code
// declares keeps the edit until that code changes. Removed ones come back.
//
// What is wrong with the spec is returned as one *InputError a field, joined.
func (c *Client) SaveRecurring(ctx context.Context, actor string, s RecurringSpec) error {
	return c.SaveRecurringIf(ctx, actor, s, nil)
}

// SaveRecurringIf asks before it saves, with the stored row locked; nil: there is
// none. An error of may is returned, and nothing is saved.
func (c *Client) SaveRecurringIf(ctx context.Context, actor string, s RecurringSpec, may func(old *store.RecurringRow) error) error {
	r, err := c.recurringRow(s, time.Now())
	if err != nil {
		return err
	}
	if r.Queue == "" {
		if r.Queue, err = c.queueOf(ctx, r.Kind); err != nil {
			return err
		}
	}
	r.Warning = c.retryWarning(ctx, r)
	return c.editRecurring(ctx, actor, "save recurring", s.ID, func(now time.Time, old *store.RecurringRow) (*store.RecurringRow, error) {
		if may != nil {
			if err := may(old); err != nil {
				return nil, err
			}
		}
		next := r
		if old != nil {
			next.Declared, next.Definition = old.Declared, old.Definition
		}
		stored, err := merged(now, old, next)
		if err == nil && old == nil && s.Paused {
			stored.PausedAt, stored.PausedBy = &now, actor
		}
		return stored, err
	})
}

// PauseRecurring stops a recurring job from firing, across restarts and deploys;
// jobs that are enqueued go on. store.ErrNotFound: there is none of that id.
func (c *Client) PauseRecurring(ctx context.Context, actor, id string) error {
	return c.changeRecurring(ctx, actor, "pause recurring", id, func(now time.Time, r *store.RecurringRow) {
		if r.PausedAt == nil {
			r.PausedAt, r.PausedBy = &now, actor
		}
	})
}

// ResumeRecurring lets it fire again. Fires that came while it was paused are
// missed ones: its misfire rule decides about them.
func (c *Client) ResumeRecurring(ctx context.Context, actor, id string) error {
	return c.changeRecurring(ctx, actor, "resume recurring", id, func(now time.Time, r *store.RecurringRow) {
		r.PausedAt, r.PausedBy = nil, ""
		if r.Error != "" { // somebody looks after it: a fresh try
			r.Failures, r.NextRun = 0, &now
		}
	})
}

// RemoveRecurring stops a recurring job for good; the dashboard shows it as
// removed. One that code still declares comes back when a server with that code
// starts: pause it instead, or change the code.
func (c *Client) RemoveRecurring(ctx context.Context, actor, id string) error {
	return c.changeRecurring(ctx, actor, "remove recurring", id, func(now time.Time, r *store.RecurringRow) {
		if r.RemovedAt == nil {
			r.RemovedAt = &now
		}
	})
}

// RunRecurringNow enqueues one job of a recurring job at once, also of a paused
// one and whatever its overlap rule. The next fire stays where it is. FireAt of the
// job is now. store.ErrNotFound: there is none of that id;
// store.ErrStateChanged: it has been removed.
func (c *Client) RunRecurringNow(ctx context.Context, actor, id string) (EnqueueResult, error) {
	return c.RunRecurringNowTx(ctx, nil, actor, id)
}

// RunRecurringNowTx is RunRecurringNow in the caller's transaction; nil is one of its
// own.
func (c *Client) RunRecurringNowTx(ctx context.Context, tx Querier, actor, id string) (EnqueueResult, error) {
	if err := checkActor(actor); err != nil {
		return EnqueueResult{}, err
	}
	created, err := c.db.RunRecurring(ctx, tx, actor, id, func(r store.RecurringRow) (store.NewJob, error) {
		_, err := scheduleOf(r) // one that is broken is repaired first
		return jobOf(r), err
	})
	if err != nil {
		return EnqueueResult{}, err
	}
	if tx == nil {
		c.changes.watched()
		c.enqueued(make([]store.NewJob, 1), []store.Created{created}, nil)
	}
	return EnqueueResult(created), nil
}

// PreviewRecurring gives the schedule that an expression means, to be said in words,
// and its next n fires from now. Errors are those of SaveRecurring.
func (c *Client) PreviewRecurring(spec, zone string, start, end *time.Time, n int) (said schedule.Schedule, fires []time.Time, err error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	s, err := scheduleOf(store.RecurringRow{Spec: spec, Zone: zone, StartAt: start, EndAt: end, CreatedAt: now})
	if err != nil {
		return said, nil, err
	}
	said = s
	if start == nil && s.Every() > 0 { // "counted from" now would say nothing
		if plain, err := said.Within(schedule.Bounds{End: s.Bounds().End}); err == nil {
			said = plain
		}
	}
	return said, s.Upcoming(now, n), nil
}

func (c *Client) changeRecurring(ctx context.Context, actor, action, id string, change func(time.Time, *store.RecurringRow)) error {
	return c.editRecurring(ctx, actor, action, id, func(now time.Time, r *store.RecurringRow) (*store.RecurringRow, error) {
		if r == nil {
			return nil, store.ErrNotFound
		}
		change(now, r)
		return r, nil
	})
}

func (c *Client) editRecurring(ctx context.Context, actor, action, id string, change func(time.Time, *store.RecurringRow) (*store.RecurringRow, error)) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	if err := c.db.EditRecurring(ctx, actor, action, id, change); err != nil {
		return err
	}
	if e := c.engine.Load(); e != nil {
		e.firer.wake()
	}
	return nil
}

// queueOf is the queue of a kind that this client or another server handles.
func (c *Client) queueOf(ctx context.Context, kind string) (string, error) {
	if h := c.handlerOf(kind); h != nil {
		return h.queue, nil
	}
	kinds, err := c.db.Kinds(ctx)
	if err != nil {
		return "", err
	}
	for _, k := range kinds {
		if k.Kind == kind {
			return k.Queue, nil
		}
	}
	return DefaultQueue, nil
}
