package web

import (
	"context"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

var recurringActionOf = map[string]action{
	"run": runRecurring, "pause": pauseRecurring, "resume": pauseRecurring, "remove": removeRecurring,
}

// recurringAct does what a button of a recurring job said.
func recurringAct(r *request) error {
	do, id, err := r.recurringPressed("run", "pause", "resume", "remove")
	if err != nil {
		return err
	}
	back, err := r.field("back")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	client, actor := r.d.client, r.who.Name
	n := notice{Do: do + " recurring", Done: 1}
	switch do {
	case "run":
		job, err := client.RunRecurringNow(ctx, actor, id)
		if errors.Is(err, store.ErrStateChanged) {
			return r.removedAlready(id)
		}
		if err != nil {
			return cut(ctx, err)
		}
		n.Jobs = ranges([]int64{job.ID})
	case "pause":
		err = client.PauseRecurring(ctx, actor, id)
	case "resume":
		err = client.ResumeRecurring(ctx, actor, id)
	case "remove":
		err = client.RemoveRecurring(ctx, actor, id)
	}
	if err != nil {
		return cut(ctx, err)
	}
	r.leaveNotice(n)
	return r.seeOther(back)
}

// recurringConfirm says what a removal will do. It changes nothing.
func recurringConfirm(r *request) error {
	_, id, err := r.recurringPressed("remove")
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	row, err := r.d.db.RecurringOne(ctx, id)
	if err != nil {
		return cut(ctx, err)
	}
	if row.RemovedAt != nil {
		return r.removedAlready(id)
	}
	p := views.RecurringConfirmProps{RecurringRowProps: r.d.presentRecurring(r.locale(), row), Back: r.d.links.RecurringOne(id)}
	return r.page(fiber.StatusOK, views.RecurringConfirmPage(r.layout(r.locale().Say("Remove %s", id), "recurring"), p))
}

// recurringPressed reads the button and the id, and checks the role for that action.
func (r *request) recurringPressed(known ...string) (do, id string, err error) {
	if do, err = r.field("do"); err != nil {
		return "", "", err
	}
	if !slices.Contains(known, do) {
		return "", "", badInput("Field do: unknown %s. Known ones: %v.", shorten(do), known)
	}
	if !can(r.who.Role, recurringActionOf[do]) {
		return "", "", refuse(fiber.StatusForbidden, "Your role does not allow this.")
	}
	if id, err = r.field("id"); err == nil && id == "" {
		err = badInput("Field id: must not be empty.")
	}
	return do, id, err
}

func (r *request) removedAlready(id string) error {
	return r.message(views.MessageProps{
		Status: fiber.StatusConflict, Title: r.locale().Say("It has been removed meanwhile"),
		Sentence: r.locale().Say("Somebody removed this recurring job, or the code that declared it. Nothing was changed now."),
		LinkText: r.locale().Say("To the recurring job"), LinkHref: r.d.links.RecurringOne(id),
	})
}
