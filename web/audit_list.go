package web

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func auditList(r *request) error {
	actor, err1 := r.query("actor")
	action, err2 := r.query("action")
	before, err3 := r.query("before")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	f := store.AuditFilter{Actor: actor, Action: action}
	if before != "" {
		id, ok := jobID(before)
		if !ok {
			return badInput("Field before: is not a page of this list. Start again from its first page.")
		}
		f.Before = id
	}
	ctx, cancel := r.timed()
	defer cancel()
	p := views.AuditProps{Actor: actor, Action: action, Before: before}
	status := fiber.StatusOK
	rows, next, err := r.d.db.AuditRows(ctx, f)
	if err != nil {
		r.d.log.Warn("dashboard: the audit could not be read", "too_slow", ctx.Err() != nil, "error", err)
		p.LoadFailed, status = true, fiber.StatusServiceUnavailable
	} else if p.Actors, p.Actions, err = r.d.db.AuditWords(ctx); err != nil {
		r.d.log.Warn("dashboard: words of the audit could not be read", "error", err)
	}
	for _, row := range rows {
		p.Rows = append(p.Rows, presentAudit(row))
	}
	if next != 0 {
		p.Next = strconv.FormatInt(next, 10)
	}
	p.None = !p.LoadFailed && len(rows) == 0 && actor == "" && action == "" && before == ""
	return r.page(status, views.AuditPage(r.layout(r.locale().Say("Audit"), "audit"), p))
}

// presentAudit words a row; what it does not know of the detail is shown as it is.
func presentAudit(a store.AuditRow) views.AuditRowProps {
	p := views.AuditRowProps{
		ID: strconv.FormatInt(a.ID, 10), At: a.At, Actor: a.Actor, Action: a.Action,
		Job: optionalID(a.JobID), Bulk: optionalID(a.Bulk), Done: a.Done, Skipped: a.Skipped, Undo: a.CanUndo,
	}
	rest := map[string]json.RawMessage{}
	if len(a.Detail) > 0 && json.Unmarshal(a.Detail, &rest) != nil {
		p.Rest = string(a.Detail)
		return p
	}
	take := func(key string, into any) bool {
		text, ok := rest[key]
		if !ok || json.Unmarshal(text, into) != nil {
			return false
		}
		delete(rest, key)
		return true
	}
	var from int16
	if take("from", &from) && from != 0 {
		p.From = views.State(store.State(from).String())
	}
	take("queue", &p.Queue)
	take("recurring", &p.Recurring)
	take("n", &p.About)
	take("copied_from", &p.CopiedFrom)
	delete(rest, "bulk")
	if text, ok := rest["filter"]; ok {
		if f, err := store.ParseFilter(text); err == nil {
			list := presentFilter(f)
			p.Filter = &list
			for _, said := range []string{"filter", "kind", "group"} {
				delete(rest, said)
			}
		}
	}
	if len(rest) > 0 {
		if text, err := json.Marshal(rest); err == nil {
			p.Rest = string(text)
		}
	}
	return p
}
