package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// jobCopyForm is the form for a copy of a job.
func jobCopyForm(r *request) error {
	if r.d.readOnly() {
		return errReadOnly
	}
	ctx, cancel := r.timed()
	defer cancel()
	of, err := r.original(ctx)
	if err != nil {
		return cut(ctx, err)
	}
	return r.copyFormPage(fiber.StatusOK, r.d.copyForm(of))
}

// jobCopy shows what the copy of a form would be, goes back to the form, or enqueues
// it. What was typed wrongly is said at its field, with everything typed kept.
func jobCopy(r *request) error {
	do, err := r.field("do")
	if err != nil {
		return err
	}
	if known := []string{"check", "edit", "enqueue"}; !slices.Contains(known, do) {
		return badInput("Field do: unknown %s. Known ones: %v.", shorten(do), known)
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	of, err := r.original(ctx)
	if err != nil {
		return cut(ctx, err)
	}
	seen, err := r.seenState()
	if err != nil {
		return err
	}
	typed := r.typedCopy(of)
	switch {
	case typed.Errors != nil:
		return r.copyFormPage(fiber.StatusBadRequest, typed.CopyFormProps)
	case do == "edit":
		return r.copyFormPage(fiber.StatusOK, typed.CopyFormProps)
	case do == "check":
		return r.copyConfirmPage(ctx, fiber.StatusOK, of, typed, seen)
	}
	typed.ask.Of.Expected = seen
	id, err := r.enqueueCopy(ctx, typed.ask)
	var input *jobs.InputError
	switch {
	case errors.Is(err, store.ErrStateChanged):
		if of, err = r.original(ctx); err != nil {
			return cut(ctx, err)
		}
		typed.NothingIsDone = true
		return r.copyConfirmPage(ctx, fiber.StatusConflict, of, typed, seen)
	case errors.As(err, &input):
		typed.refuse(r.locale(), err)
		return r.copyFormPage(fiber.StatusBadRequest, typed.CopyFormProps)
	case err != nil:
		return cut(ctx, err)
	}
	r.leaveNotice(notice{Do: "copy job", Done: 1})
	return r.seeOther(r.d.links.Job(id))
}

func (r *request) original(ctx context.Context) (store.Original, error) {
	id, ok := jobID(r.Params("id"))
	if !ok {
		return store.Original{}, store.ErrNotFound
	}
	return r.d.db.Original(ctx, r.d.db, id)
}

// seenState is the state of the original on the person's screen.
func (r *request) seenState() (store.State, error) {
	text, err := r.field("state")
	if err != nil {
		return 0, err
	}
	seen, err := store.ParseState(text)
	if err != nil {
		return 0, badInput("Field state: unknown %s. Open the form again.", shorten(text))
	}
	return seen, nil
}

// enqueueCopy enqueues once for one look at the confirmation, however often its button
// is pressed.
func (r *request) enqueueCopy(ctx context.Context, ask jobs.Copy) (id string, err error) {
	once, err := r.field("once")
	if err != nil {
		return "", err
	}
	if !isToken(once) {
		return "", badInput("Field once: is not of this page. Open the form again.")
	}
	content, err := json.Marshal(ask)
	if err != nil {
		return "", err
	}
	receipt, _, err := r.d.claimsOf.Once(ctx, r.userKey("copy-job", once), keyWait, func(ctx context.Context, tx jobs.Querier) (any, error) {
		done, err := r.d.client.EnqueueCopy(ctx, tx, r.who.Name, ask)
		return views.Target(itoa(done.ID), views.State(done.State.String())), err
	}, idempotency.Content(content))
	var busy *idempotency.BusyError
	var other *idempotency.MismatchError
	switch {
	case errors.As(err, &busy):
		return "", refuse(fiber.StatusConflict, "This copy is being enqueued just now, by an earlier press of the same button. Look at the jobs in a moment.")
	case errors.As(err, &other):
		return "", badInput("Field once: was used for another copy. Open the form again.")
	case err != nil:
		return "", err
	}
	var target string
	if err := json.Unmarshal(receipt, &target); err != nil {
		return "", err
	}
	id, _, _ = views.ParseTarget(target)
	return id, nil
}

func (r *request) copyFormPage(status int, f views.CopyFormProps) error {
	return r.page(status, views.CopyFormPage(r.layout(r.locale().Say("Copy of job %s", f.ID), "jobs"), f))
}

func (r *request) copyConfirmPage(ctx context.Context, status int, of store.Original, typed typedCopy, seen store.State) error {
	p := typed.CopyConfirmProps
	p.State, p.Attempt = views.State(of.State.String()), of.Attempt
	if seen != of.State {
		p.Moved = views.State(seen.String())
	}
	p.Once = rand.Text()
	claims, ok := load(ctx, r.d, "claims of a job", func(ctx context.Context) ([]store.Effect, error) { return r.d.db.JobEffects(ctx, of.ID) })
	p.ClaimsFailed = !ok
	for _, e := range claims {
		p.Claims = append(p.Claims, presentCopyClaim(e, of.Args, typed.ask.Args, p.Edited))
	}
	return r.page(status, views.CopyConfirmPage(r.layout(r.locale().Say("Copy of job %s", p.ID), "jobs"), p))
}
