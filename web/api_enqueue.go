package web

import (
	"context"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// apiEnqueued is the answer, and the receipt of a key: whoever sends the same
// request again gets it again.
type apiEnqueued struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Duplicate bool   `json:"duplicate"`
}

func apiJobsEnqueue(r *request) error {
	var n apiNewJob
	if err := r.read(&n); err != nil {
		return err
	}
	options, err := n.options()
	if err != nil {
		return err
	}
	enqueue := func(ctx context.Context, tx jobs.Querier) (apiEnqueued, error) {
		e, err := r.d.client.EnqueueAs(ctx, tx, r.who.Name, n.Kind, n.Args, options...)
		return apiEnqueued{strconv.FormatInt(e.ID, 10), e.State.String(), e.Duplicate}, err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	content := func() ([]byte, error) { return canonical(r.Request().Body()) }
	done, err := r.enqueueOnce(ctx, "api-jobs", content, enqueue)
	if err != nil {
		return cut(ctx, notKnown(err))
	}
	r.Set(fiber.HeaderLocation, r.d.links.Path("/api/jobs/"+done.ID))
	status := fiber.StatusCreated
	if done.Duplicate {
		status = fiber.StatusOK
	}
	return r.answer(status, done)
}

// notKnown words the one failure after which the job may be there.
func notKnown(err error) error {
	if errors.Is(err, store.ErrUnknownOutcome) {
		return problem{refuse(fiber.StatusServiceUnavailable,
			"The connection to the database was lost while it committed: the job may be there or not. Send the request again with the same Idempotency-Key, or look for it."),
			"outcome-unknown", nil}
	}
	return err
}
