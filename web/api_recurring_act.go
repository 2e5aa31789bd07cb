package web

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// apiRecurringAct does what can be said twice: who pauses what is paused changes
// nothing but the audit.
func apiRecurringAct(do func(c *jobs.Client, ctx context.Context, actor, id string) error) func(*request) error {
	return func(r *request) error {
		if err := r.read(&struct{}{}); err != nil {
			return err
		}
		id, err := r.named("id")
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
		defer cancel()
		if err := do(r.d.client, ctx, r.who.Name, id); err != nil {
			return cut(ctx, err)
		}
		return r.apiRecurringNow(fiber.StatusOK, id)
	}
}

// apiRecurringRun enqueues one job now; with a key, one job however often it comes.
func apiRecurringRun(r *request) error {
	if err := r.read(&struct{}{}); err != nil {
		return err
	}
	id, err := r.named("id")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	content := func() ([]byte, error) { return []byte(id), nil }
	done, err := r.enqueueOnce(ctx, "api-recurring", content, func(ctx context.Context, tx jobs.Querier) (apiEnqueued, error) {
		e, err := r.d.client.RunRecurringNowTx(ctx, tx, r.who.Name, id)
		return apiEnqueued{strconv.FormatInt(e.ID, 10), e.State.String(), e.Duplicate}, err
	})
	if errors.Is(err, store.ErrStateChanged) {
		return problem{refuse(fiber.StatusConflict, "This recurring job was removed. Nothing was enqueued."), "state-changed", nil}
	}
	if err != nil {
		return cut(ctx, notKnown(err))
	}
	r.Set(fiber.HeaderLocation, r.d.links.Path("/api/jobs/"+done.ID))
	return r.answer(fiber.StatusCreated, done)
}

func (d *Dashboard) apiRecurringPath(id string) string {
	return d.links.Path("/api/recurring/" + url.PathEscape(id))
}
