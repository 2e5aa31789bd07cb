package web

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

// countWait is how long the exact count of a bulk action may take. A person waits
// for it, and it is worth more than a quick guess.
const countWait = 8 * time.Second

// sampleRows are shown of the jobs that a bulk action is about.
const sampleRows = 10

// bulkConfirm says what an action on all matching jobs will do. It changes nothing.
func bulkConfirm(r *request) error {
	do, f, err := r.bulkForm("requeue", "delete", "restore")
	if err != nil {
		return err
	}
	return r.bulkPreview(fiber.StatusOK, do, f, "", "")
}

// bulkPreview counts exactly and shows the first of the jobs.
func (r *request) bulkPreview(status int, do string, f store.JobFilter, typed, wrong string) error {
	back, err := r.field("back")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	seen, err := r.d.db.Clock(ctx)
	if err != nil {
		return cut(ctx, err)
	}
	n, err := r.d.db.CountWithin(ctx, f, seen, countWait)
	if err != nil {
		return cut(ctx, err)
	}
	f.Limit = sampleRows
	rows, _, err := r.d.db.Jobs(ctx, f)
	if err != nil {
		return cut(ctx, err)
	}
	p := views.BulkConfirmProps{
		Do: do, Filter: presentFilter(f), Count: presentCount(n), Sample: presentRows(rows, nil),
		SeenAt: seen.UTC().Format(time.RFC3339Nano), Typed: typed, Wrong: wrong, Back: r.d.local(back),
	}
	return r.page(status, views.BulkConfirmPage(r.layout(r.locale().Say("Confirm"), "jobs"), p))
}

// bulkForm reads the button and the list, and checks the role for that action.
func (r *request) bulkForm(known ...string) (do string, f store.JobFilter, err error) {
	if do, err = r.field("do"); err != nil {
		return "", f, err
	}
	if !slices.Contains(known, do) {
		return "", f, badInput("Field do: unknown %s. Known ones: %v.", shorten(do), known)
	}
	if !can(r.who.Role, actionOf[do]) {
		return "", f, refuse(fiber.StatusForbidden, "Your role does not allow this.")
	}
	if f, err = r.d.jobsFilter(r.field); err != nil {
		return "", f, err
	}
	if do == "once" || do == "fresh" {
		do = "requeue"
	}
	ctx, cancel := r.timed()
	defer cancel()
	if f, _ = r.d.aim(ctx, f); !slices.Contains(movable[do], f.State) {
		return "", f, badInput("Field state: a %s job cannot be changed this way (%s).", f.State, do)
	}
	return do, f, nil
}

// bulkStart begins what bulkConfirm described. From a hundred jobs on, the count
// has to be typed: the one that the person was shown.
func bulkStart(r *request) error {
	do, f, err := r.bulkForm("once", "fresh", "delete", "restore")
	if err != nil {
		return err
	}
	expect, err1 := r.field("expect")
	typed, err2 := r.field("typed")
	seen, err3 := r.field("seen")
	budget, _ := r.field("do")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return err
		}
	}
	n, err := strconv.ParseInt(expect, 10, 64)
	if err != nil || n < 1 {
		return badInput("Field expect: must be the count that the page before showed, 1 or more.")
	}
	at, err := time.Parse(time.RFC3339Nano, seen)
	if err != nil {
		return badInput("Field seen: must be the time that the page before gave.")
	}
	ctx, cancel := context.WithTimeout(r.UserContext(), actWait)
	defer cancel()
	if wrong, err := r.countMissing(ctx, do, f, n, typed); err != nil || wrong != "" {
		if err != nil {
			return cut(ctx, err)
		}
		return r.bulkPreview(fiber.StatusBadRequest, do, f, typed, wrong)
	}
	b := jobs.Bulk{Action: do, Filter: f, SeenAt: at, Expected: n}
	if budget == "fresh" {
		b.Budget = jobs.FreshBudget
	}
	id, err := r.d.client.StartBulk(ctx, r.who.Name, b)
	if err != nil {
		return cut(ctx, err)
	}
	return r.seeOther(r.d.links.Bulk(strconv.FormatInt(id, 10)))
}

var typeExactly = map[string]string{
	"requeue": locale.Sentence("Type the number of jobs exactly to requeue them. Nothing was changed."),
	"delete":  locale.Sentence("Type the number of jobs exactly to delete them. Nothing was changed."),
	"restore": locale.Sentence("Type the number of jobs exactly to restore them. Nothing was changed."),
}

// countMissing says why the typed count is not enough, "" when it is or none is
// needed. A list that grew past the limit meanwhile is shown anew.
func (r *request) countMissing(ctx context.Context, do string, f store.JobFilter, expect int64, typed string) (string, error) {
	if expect < views.TypedFrom {
		now, err := r.d.db.CountJobs(ctx, f)
		if err != nil || now.N < views.TypedFrom && !now.AtLeast {
			return "", err
		}
		return r.locale().Say("The list has grown since you saw it. Nothing was changed; look at the count again."), nil
	}
	digits := strings.Map(func(c rune) rune {
		if strings.ContainsRune(" ,.'\u00a0\u202f", c) {
			return -1
		}
		return c
	}, typed)
	if digits == strconv.FormatInt(expect, 10) {
		return "", nil
	}
	return r.locale().Say(typeExactly[do]), nil
}
