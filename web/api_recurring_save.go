package web

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web/redact"
)

// apiNewRecurring is a recurring job as a program writes it. What is not there has
// its default, also when one is stored: the body replaces it.
type apiNewRecurring struct {
	Kind      string          `json:"kind"`
	Spec      string          `json:"spec"`
	Zone      string          `json:"zone"`
	Args      json.RawMessage `json:"args"`
	Queue     string          `json:"queue"`
	Priority  int             `json:"priority"`
	Misfire   string          `json:"misfire"`
	Overlap   string          `json:"overlap"`
	Policy    json.RawMessage `json:"policy"`
	TimeoutMS int64           `json:"timeout_ms"`
	StartAt   string          `json:"start_at"`
	EndAt     string          `json:"end_at"`
	Paused    *bool           `json:"paused"`
	// Expected is "new", or the updated_at with which the program saw it; "" replaces
	// whatever is there.
	Expected string `json:"expected"`
}

func apiRecurringSave(r *request) error {
	var n apiNewRecurring
	if err := r.read(&n); err != nil {
		return err
	}
	id, err := r.named("id")
	if err != nil {
		return err
	}
	spec, err := n.spec(id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	read, err := r.d.db.RecurringOne(ctx, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return cut(ctx, err)
	}
	isNew := err != nil
	if spec.Args, err = r.d.unhidden(spec.Args, read.Args); err != nil {
		return err
	}
	err = r.d.client.SaveRecurringIf(ctx, r.who.Name, spec, func(old *store.RecurringRow) error {
		if err := n.may(old); err != nil {
			return err
		}
		if (old == nil) != isNew || old != nil && !old.UpdatedAt.Equal(read.UpdatedAt) {
			return savedMeanwhile(old)
		}
		return nil
	})
	if err != nil {
		return cut(ctx, apiFields(err))
	}
	status := fiber.StatusOK
	if isNew {
		status = fiber.StatusCreated
		r.Set(fiber.HeaderLocation, r.d.apiRecurringPath(id))
	}
	return r.apiRecurringNow(status, id)
}

func (n apiNewRecurring) spec(id string) (s jobs.RecurringSpec, err error) {
	s = jobs.RecurringSpec{ID: id, Kind: n.Kind, Spec: n.Spec, Zone: n.Zone, Args: n.Args, Queue: n.Queue, Priority: n.Priority, Paused: n.Paused != nil && *n.Paused}
	if s.Misfire, err = schedule.ParseMisfire(n.Misfire); err != nil {
		return s, badInput("Field misfire: unknown %s. Known ones: run_once, run_all, skip.", shorten(n.Misfire))
	}
	if s.Overlap, err = jobs.ParseOverlap(n.Overlap); err != nil {
		return s, badInput("Field overlap: unknown %s. Known ones: allow, skip, queue_one.", shorten(n.Overlap))
	}
	if s.Retry, err = apiPolicy(n.Policy); err != nil {
		return s, err
	}
	if s.Timeout, err = milliseconds("timeout_ms", n.TimeoutMS); err != nil {
		return s, err
	}
	if s.Start, err = apiInstant("start_at", n.StartAt); err != nil {
		return s, err
	}
	s.End, err = apiInstant("end_at", n.EndAt)
	return s, err
}

// apiInstant reads a limit; the zero time would mean none.
func apiInstant(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.IsZero() {
		return t, badInput("Field %s: must be a time such as 2026-01-31T09:00:00Z.", field)
	}
	return t, nil
}

// may says whether the body may take the place of what is stored.
func (n apiNewRecurring) may(old *store.RecurringRow) error {
	switch n.Expected {
	case "":
	case "new":
		if old != nil {
			return savedMeanwhile(old)
		}
	default:
		seen, err := apiInstant("expected", n.Expected)
		if err != nil {
			return badInput("Field expected: must be new, or the updated_at with which you saw it.")
		}
		if old == nil {
			return store.ErrNotFound
		}
		if !old.UpdatedAt.Equal(seen) {
			return savedMeanwhile(old)
		}
	}
	switch {
	case old == nil:
		return nil
	case old.Kind != n.Kind:
		return badInput("Field kind: is %s and stays so; another kind needs another id.", shorten(old.Kind))
	case n.Paused != nil && *n.Paused != (old.PausedAt != nil):
		return badInput("Field paused: counts when it is new. Pause and resume have addresses of their own.")
	}
	return nil
}

func savedMeanwhile(old *store.RecurringRow) error {
	p := problem{refuse(fiber.StatusConflict, "The recurring job is not as you saw it: it was saved meanwhile. Nothing was changed."), "state-changed", nil}
	if old != nil {
		p.extra = map[string]any{"updated_at": exportTime(&old.UpdatedAt)}
	}
	return p
}

// unhidden puts stored values back where args say that one is hidden, so that a
// program can send what it was given.
func (d *Dashboard) unhidden(args, stored json.RawMessage) (json.RawMessage, error) {
	out, lost := d.o.Redact.Restore(args, stored)
	if len(lost) > 0 {
		return nil, badInput("Field args: says %s at %s, which stands for a hidden value, and none is stored there.", redact.Hidden, strings.Join(lost, ", "))
	}
	return out, nil
}

// apiFields words refused input by the members of the body.
func apiFields(err error) error {
	fields := map[string]string{}
	if !addInputErrors(nil, fields, err) {
		return err
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch name {
		case "":
			all = append(all, fields[name])
			continue
		case "start", "end":
			all = append(all, "Field "+name+"_at: "+fields[name]+".")
			continue
		}
		all = append(all, "Field "+name+": "+fields[name]+".")
	}
	return badInput("%s", strings.Join(all, " "))
}
