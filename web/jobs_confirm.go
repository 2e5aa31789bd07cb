package web

import (
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// maxTicked bounds one form; a page of the list has 50 rows.
const maxTicked = 500

// movable says from which states an action takes a job, as package jobs documents it.
var movable = map[string][]store.State{
	"requeue": {store.Scheduled, store.Awaiting, store.Failed, store.Succeeded, store.Deleted},
	"delete":  {store.Scheduled, store.Awaiting, store.Enqueued, store.Processing, store.Succeeded, store.Failed},
	"restore": {store.Deleted},
	"cancel":  {store.Processing},
}

var actionOf = map[string]action{
	"requeue": requeue, "once": requeue, "fresh": requeue, "delete": remove, "restore": restore, "cancel": remove,
}

// jobsConfirm says what an action will do to the ticked jobs. It changes nothing.
func jobsConfirm(r *request) error {
	do, targets, err := r.jobsForm("requeue", "delete", "restore", "cancel")
	if err != nil {
		return err
	}
	back, err := r.field("back")
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	ids := make([]int64, len(targets))
	for i, t := range targets {
		ids[i] = t.ID
	}
	var rows []store.JobRow
	if len(ids) > 0 {
		if rows, err = r.d.db.JobRows(ctx, ids); err != nil {
			return cut(ctx, err)
		}
	}
	in, p := r.locale(), views.ConfirmProps{Do: do, Back: r.d.local(back)}
	for _, t := range targets {
		i := slices.IndexFunc(rows, func(j store.JobRow) bool { return j.ID == t.ID })
		if i < 0 {
			gone := views.JobRowProps{ID: strconv.FormatInt(t.ID, 10), State: views.State(t.Expected.String())}
			p.Skipped = append(p.Skipped, views.Skipped{Job: gone, Why: in.Say("no longer exists")})
			continue
		}
		row := presentRow(rows[i], nil)
		switch now := rows[i].State; {
		case now != t.Expected:
			why := in.Say("was %s on your screen, is %s now", in.Say(t.Expected.String()), in.Say(now.String()))
			p.Skipped = append(p.Skipped, views.Skipped{Job: row, Why: why})
		case !slices.Contains(movable[do], now):
			why := in.Say("cannot be done while it is %s", in.Say(now.String()))
			p.Skipped = append(p.Skipped, views.Skipped{Job: row, Why: why})
		default:
			p.Jobs = append(p.Jobs, row)
		}
	}
	return r.page(fiber.StatusOK, views.ConfirmPage(r.layout(in.Say("Confirm"), "jobs"), p))
}

// jobsForm reads the action and the jobs of a form, and checks the role for that action.
func (r *request) jobsForm(known ...string) (do string, targets []jobs.Target, err error) {
	if do, err = r.field("do"); err != nil {
		return "", nil, err
	}
	if !slices.Contains(known, do) {
		return "", nil, badInput("Field do: unknown %s. Known ones: %v.", shorten(do), known)
	}
	if !can(r.who.Role, actionOf[do]) {
		return "", nil, refuse(fiber.StatusForbidden, "Your role does not allow this.")
	}
	values := r.Request().PostArgs().PeekMulti("target")
	if len(values) > maxTicked {
		return "", nil, badInput("Field target: has %d jobs; the limit is %d.", len(values), maxTicked)
	}
	for _, v := range values {
		id, state, _ := views.ParseTarget(string(v))
		n, ok := jobID(id)
		expected, err := store.ParseState(string(state))
		if !ok || err != nil {
			return "", nil, badInput("Field target: %s is not a job and its state, such as 7:failed.", shorten(string(v)))
		}
		t := jobs.Target{ID: n, Expected: expected}
		if !slices.ContainsFunc(targets, func(o jobs.Target) bool { return o.ID == n }) {
			targets = append(targets, t)
		}
	}
	return do, targets, nil
}
