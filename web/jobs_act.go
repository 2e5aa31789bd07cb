package web

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// actWait bounds a write. It is longer than that of a page: an action that was cut
// off may have happened, and nobody could say.
const actWait = 25 * time.Second

// jobsAct does what a button said, to the jobs that are still as the person saw them.
func jobsAct(r *request) error {
	do, targets, err := r.jobsForm("once", "fresh", "delete", "restore", "cancel")
	if err != nil {
		return err
	}
	back, err := r.field("back")
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		r.leaveNotice(notice{Do: do})
		return r.seeOther(back)
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	moved, err := r.d.move(ctx, r.who.Name, do, targets)
	if err != nil {
		return cut(ctx, err)
	}
	if len(moved) == 1 && errors.Is(moved[0].Err, store.ErrStateChanged) {
		return r.movedMeanwhile(moved[0].ID)
	}
	if len(moved) == 1 && moved[0].Err != nil {
		return moved[0].Err
	}
	n := notice{Do: do}
	var done []int64
	for _, m := range moved {
		switch {
		case m.Err == nil:
			done = append(done, m.ID)
		case errors.Is(m.Err, store.ErrNotFound):
			n.Gone++
		default:
			n.Moved++
		}
	}
	n.Done, n.Jobs = len(done), ranges(done)
	r.leaveNotice(n)
	return r.seeOther(back)
}

func (d *Dashboard) move(ctx context.Context, actor, do string, targets []jobs.Target) ([]jobs.Moved, error) {
	switch do {
	case "fresh":
		return d.client.Requeue(ctx, actor, jobs.FreshBudget, targets...)
	case "delete":
		return d.client.Delete(ctx, actor, targets...)
	case "cancel":
		return d.client.Cancel(ctx, actor, targets...)
	case "restore":
		return d.client.Restore(ctx, actor, targets...)
	}
	return d.client.Requeue(ctx, actor, jobs.KeepRetries, targets...)
}

// movedMeanwhile shows what the job is now, with the buttons for that.
func (r *request) movedMeanwhile(id int64) error {
	ctx, cancel := r.timed()
	defer cancel()
	p, err := r.d.jobPage(ctx, id, 0)
	if err != nil {
		return cut(ctx, err)
	}
	return r.message(views.MessageProps{
		Status: fiber.StatusConflict, Job: &p,
		LinkText: r.locale().Say("To the job"), LinkHref: r.d.links.Job(p.ID),
	})
}
