package web

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

// previewFires is how many coming fires a form shows.
const previewFires = 5

func recurringNew(r *request) error {
	f := views.RecurringFormProps{New: true, Misfire: "run_once", Overlap: "allow", Args: "{}"}
	return r.formAgain(fiber.StatusOK, f)
}

// recurringSave shows the next fires of a form, or stores it. What was typed wrongly
// is said at its field, with everything typed kept.
func recurringSave(r *request) error {
	do, err := r.field("do")
	if err != nil {
		return err
	}
	if do != "preview" && do != "save" {
		return badInput("Field do: unknown %s. Known ones: preview, save.", shorten(do))
	}
	f := r.typedForm()
	if f.Errors["id"] != "" && !f.New {
		return store.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	old, status, err := r.d.formsRow(ctx, r.locale(), &f)
	if err != nil {
		return cut(ctx, err)
	}
	spec := r.d.recurringSpec(r.locale(), &f, old)
	r.d.preview(r.locale(), &f, spec, old)
	if status == 0 && len(f.Errors) > 0 {
		status = fiber.StatusBadRequest
	}
	if do == "preview" || status != 0 {
		return r.formAgain(max(status, fiber.StatusOK), f)
	}
	if err := r.d.saveRecurring(ctx, r.who.Name, spec, f); err != nil {
		if !addInputErrors(r.locale(), f.Errors, err) {
			return cut(ctx, err)
		}
		return r.formAgain(fiber.StatusBadRequest, f)
	}
	r.leaveNotice(notice{Do: "save recurring", Done: 1})
	return r.seeOther(r.d.links.RecurringOne(spec.ID))
}

// formsRow reads what a form edits; nil for a new one. A status tells that it was
// changed meanwhile (409) or that the new id is taken (400).
func (d *Dashboard) formsRow(ctx context.Context, in *locale.Locale, f *views.RecurringFormProps) (*store.RecurringRow, int, error) {
	if f.New && f.Errors["id"] != "" {
		return nil, 0, nil
	}
	row, err := d.db.RecurringOne(ctx, f.ID)
	switch {
	case f.New && errors.Is(err, store.ErrNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case f.New && row.RemovedAt != nil:
		f.Errors["id"] = in.Say("belongs to a removed recurring job: open that one and edit it to bring it back")
		return nil, fiber.StatusBadRequest, nil
	case f.New:
		f.Errors["id"] = in.Say("is taken by another recurring job")
		return nil, fiber.StatusBadRequest, nil
	}
	f.Kind, f.Removed, f.Declared = row.Kind, row.RemovedAt != nil, row.Declared
	if seen := version(row); f.Seen != seen {
		f.Seen = seen
		f.Errors[""] = in.Say("It was changed meanwhile, by somebody else or by a new version of the code. Its page shows what is stored; save again to put this in its place.")
		return &row, fiber.StatusConflict, nil
	}
	return &row, 0, nil
}

// preview fills in what the schedule means. A stored interval without a start goes on
// counting from when it was first stored.
func (d *Dashboard) preview(in *locale.Locale, f *views.RecurringFormProps, s jobs.RecurringSpec, old *store.RecurringRow) {
	for _, name := range []string{"spec", "zone", "start", "end"} {
		if f.Errors[name] != "" {
			return
		}
	}
	limit := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	said, fires, err := d.client.PreviewRecurring(s.Spec, s.Zone, limit(s.Start), limit(s.End), previewFires)
	if err != nil {
		addInputErrors(in, f.Errors, err)
		return
	}
	if old != nil && s.Start.IsZero() {
		if _, counted, err := d.client.PreviewRecurring(s.Spec, s.Zone, &old.CreatedAt, limit(s.End), previewFires); err == nil {
			fires = counted
		}
	}
	f.Preview = &views.PreviewProps{Words: said.Say(in.Say)}
	loc, _ := zoneOf(s.Zone)
	for _, t := range fires {
		f.Preview.Fires = append(f.Preview.Fires, t.In(loc))
	}
}

// saveRecurring stores the spec. An edit leaves the pause alone; it changes only if
// the person changed the tick, not because somebody else paused it meanwhile.
func (d *Dashboard) saveRecurring(ctx context.Context, actor string, s jobs.RecurringSpec, f views.RecurringFormProps) error {
	if err := d.client.SaveRecurring(ctx, actor, s); err != nil || f.New || f.Paused == f.WasPaused {
		return err
	}
	if f.Paused {
		return d.client.PauseRecurring(ctx, actor, s.ID)
	}
	return d.client.ResumeRecurring(ctx, actor, s.ID)
}

func (r *request) formAgain(status int, f views.RecurringFormProps) error {
	if f.New {
		ctx, cancel := r.timed()
		defer cancel()
		kinds, _ := load(ctx, r.d, "kinds", r.d.db.Kinds)
		f.Kinds = kindNames(kinds)
	}
	title := r.locale().Say("Edit %s", f.ID)
	if f.New {
		title = r.locale().Say("New recurring job")
	}
	return r.page(status, views.RecurringFormPage(r.layout(title, "recurring"), f))
}
