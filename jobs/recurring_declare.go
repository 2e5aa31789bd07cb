package jobs

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/tekrar/tekrar/store"
)

// redeclareGrace: a recurring job that no server declared for so short a time was
// between two starts of a deployment. Its overdue fire is kept.
const redeclareGrace = 15 * time.Minute

func (c *Client) declared() map[string]RecurringSpec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.recurring)
}

// declare stores what this program declares and has not been stored as it is.
// again: this server was lost and comes back. What changed meanwhile is left to
// those that were there.
func (e *engine) declare(ctx context.Context, again bool) error {
	specs := e.c.declared()
	have, err := e.db.RecurringByID(ctx, sortedKeys(specs))
	if err != nil {
		return err
	}
	for _, id := range sortedKeys(specs) {
		r, err := e.c.recurringRow(specs[id], time.Now())
		if err != nil {
			return err
		}
		if r.Queue == "" {
			r.Queue = DefaultQueue
			if h := e.kinds[r.Kind]; h != nil {
				r.Queue = h.queue
			}
		}
		r.Declared, r.Definition = true, definitionOf(r)
		old := have[id]
		if again && old != nil && old.Definition != r.Definition {
			continue
		}
		warning := e.declaredWarning(ctx, old, r)
		if warning != "" {
			e.log.Warn("retry policy does not fit its schedule", "recurring", id, "warning", warning)
		}
		if settledAs(old, r, warning) {
			continue
		}
		err = e.db.EditRecurring(ctx, "", "declare recurring job", id, func(now time.Time, old *store.RecurringRow) (*store.RecurringRow, error) {
			return redeclared(now, old, r, specs[id].Paused, warning)
		})
		if err != nil {
			return err
		}
	}
	return e.removeUndeclared(ctx)
}

// settledAs reports that nothing has to be written.
func settledAs(old *store.RecurringRow, r store.RecurringRow, warning string) bool {
	return old != nil && old.Declared && old.Definition == r.Definition && old.RemovedAt == nil && old.Error == "" && sameWarning(old.Warning, warning)
}

// sameWarning leaves out the fire that it names, which moves with time.
func sameWarning(a, b string) bool {
	a, _, _ = strings.Cut(a, " (from ")
	b, _, _ = strings.Cut(b, " (from ")
	return a == b
}

// redeclared gives the row after a start of a program that declares r. Unchanged
// code leaves what people edited.
func redeclared(now time.Time, old *store.RecurringRow, r store.RecurringRow, paused bool, warning string) (*store.RecurringRow, error) {
	if old != nil && old.RemovedAt != nil && now.Sub(*old.RemovedAt) < redeclareGrace {
		old.RemovedAt = nil
	}
	if old != nil && old.Definition == r.Definition {
		edited := *old
		edited.RemovedAt, edited.Error, edited.Failures, edited.Declared = nil, "", 0, true
		if _, err := scheduleOf(edited); err == nil { // else the code repairs it
			r = edited
		}
	}
	r.Warning = warning
	next, err := merged(now, old, r)
	if err == nil && old == nil && paused {
		next.PausedAt, next.PausedBy = &now, "code"
	}
	return next, err
}

// declaredWarning is about what will apply: what people edited, unless the code
// changed since.
func (e *engine) declaredWarning(ctx context.Context, old *store.RecurringRow, r store.RecurringRow) string {
	if old != nil && old.Definition == r.Definition {
		r = *old
	}
	return e.c.retryWarning(ctx, r)
}

// removeUndeclared marks what was declared by code that no server runs any more.
func (e *engine) removeUndeclared(ctx context.Context) error {
	removed, err := e.db.RemoveUndeclared(ctx, sortedKeys(e.kinds), sortedKeys(e.c.declared()))
	if len(removed) > 0 {
		e.log.Info("recurring jobs removed: no running server declares them any more", "recurring", removed)
	}
	return err
}
