package web

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// failuresConfirm says what muting a group means, with its exact count. It changes
// nothing.
func failuresConfirm(r *request) error {
	do, kind, group, err := r.failuresPressed()
	if err != nil {
		return err
	}
	back, err := r.field("back")
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	g, err := r.d.db.FailureGroup(ctx, kind, group)
	if err != nil {
		return cut(ctx, err)
	}
	p := views.FailureConfirmProps{FailureProps: presentGroup(g), Do: do, Back: r.d.local(back)}
	return r.page(fiber.StatusOK, views.FailureConfirmPage(r.layout(r.locale().Say("Confirm"), "failures"), p))
}

// failuresAct mutes a group or shows it again.
func failuresAct(r *request) error {
	do, kind, group, err := r.failuresPressed()
	if err != nil {
		return err
	}
	back, err := r.field("back")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	act := r.d.client.MuteFailures
	if do == "unmute" {
		act = r.d.client.UnmuteFailures
	}
	if err := act(ctx, r.who.Name, kind, group); err != nil {
		return cut(ctx, err)
	}
	r.leaveNotice(notice{Do: do, Done: 1})
	return r.seeOther(back)
}

func (r *request) failuresPressed() (do, kind string, group int64, err error) {
	if do, err = r.field("do"); err != nil {
		return "", "", 0, err
	}
	if !slices.Contains([]string{"mute", "unmute"}, do) {
		return "", "", 0, badInput("Field do: unknown %s. Known ones: mute, unmute.", shorten(do))
	}
	if kind, err = r.field("kind"); err == nil && kind == "" {
		err = badInput("Field kind: must not be empty.")
	}
	if err != nil {
		return "", "", 0, err
	}
	name, err := r.field("group")
	if err == nil {
		if group, err = store.ParseGroup(name); err != nil {
			err = badInput("Field group: %s.", err)
		}
	}
	return do, kind, group, err
}
