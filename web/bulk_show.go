package web

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// bulkIdle is the silence after which nobody works on an operation any more.
const bulkIdle = 15 * time.Second

func bulkShow(r *request) error {
	id, ok := jobID(keep(r.Params("id")))
	if !ok {
		return store.ErrNotFound
	}
	ctx, cancel := r.timed()
	defer cancel()
	b, err := r.d.db.Bulk(ctx, id)
	if err != nil {
		return cut(ctx, err)
	}
	p := presentBulk(b)
	l := r.layout(r.locale().Say("Operation %s", p.ID), "jobs")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(fiber.StatusOK, views.BulkPage(l, p))
}

// bulkAct stops, continues or undoes an operation.
func bulkAct(r *request) error {
	do, err := r.field("do")
	if err != nil {
		return err
	}
	if known := []string{"stop", "continue", "undo"}; !slices.Contains(known, do) {
		return badInput("Field do: unknown %s. Known ones: %v.", shorten(do), known)
	}
	text, err := r.field("id")
	if err != nil {
		return err
	}
	id, ok := jobID(text)
	if !ok {
		return badInput("Field id: must be the number of an operation.")
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	switch do {
	case "stop":
		err = r.d.client.StopBulk(ctx, r.who.Name, id)
	case "continue":
		err = r.d.client.ContinueBulk(ctx, r.who.Name, id)
	default:
		var undo int64
		if undo, err = r.d.client.UndoBulk(ctx, r.who.Name, id); err == nil {
			id = undo
		}
	}
	link := r.d.links.Bulk(strconv.FormatInt(id, 10))
	if errors.Is(err, store.ErrStateChanged) {
		return r.message(views.MessageProps{
			Status: fiber.StatusConflict, Title: r.locale().Say("It is further than that by now"),
			Sentence: r.locale().Say("The operation ended, was continued or was undone meanwhile. Nothing was changed now."),
			LinkText: r.locale().Say("To the operation"), LinkHref: link,
		})
	}
	if err != nil {
		return cut(ctx, err)
	}
	return r.seeOther(link)
}

func presentBulk(b store.Bulk) views.BulkProps {
	p := views.BulkProps{
		ID: strconv.FormatInt(b.ID, 10), Do: b.Action, Fresh: b.Fresh, Actor: b.Actor, StoppedBy: b.StoppedBy,
		Stopping: b.StopAt != nil, Expected: b.Expected, Done: b.Done, Skipped: b.Skipped,
		CreatedAt: b.CreatedAt, FinishedAt: b.FinishedAt, Error: b.Error,
		UndoOf: optionalID(b.UndoOf), UndoneBy: optionalID(b.UndoneBy),
		State: map[store.BulkState]string{store.BulkRunning: "running", store.BulkDone: "done", store.BulkStopped: "stopped", store.BulkFailed: "failed"}[b.State],
	}
	if b.State == store.BulkRunning && b.Now.Sub(b.BeatAt) > bulkIdle {
		p.State = "idle"
	}
	p.CanUndo = b.Action == "delete" && b.State != store.BulkRunning && b.UndoneBy == nil && b.Done > 0
	if f, err := store.ParseFilter(b.Filter); err == nil {
		p.Filter = presentFilter(f)
	}
	return p
}

func optionalID(id *int64) string {
	if id == nil {
		return ""
	}
	return strconv.FormatInt(*id, 10)
}
