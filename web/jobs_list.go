package web

import (
	"context"
	"errors"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func jobsList(r *request) error {
	f, err := r.d.jobsFilter(r.query)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	p, status, err := r.d.jobsPage(ctx, f)
	if err != nil {
		return err
	}
	p.Saved = r.savedViews()
	l := r.layout(r.locale().Say("Jobs"), "jobs")
	l.LiveURL = r.d.liveURL(l.Here, p.Rows)
	return r.page(status, views.JobsPage(l, p))
}

func (d *Dashboard) jobsPage(ctx context.Context, f store.JobFilter) (views.JobsProps, int, error) {
	f, named := d.aim(ctx, f)
	list := presentFilter(f)
	p := views.JobsProps{ListFilter: list, After: f.After.String(), Fields: store.FieldNames()}
	rows, next, err := d.db.Jobs(ctx, f)
	if errors.Is(err, store.ErrBadCursor) {
		return p, 0, err
	}
	status := fiber.StatusOK
	if err != nil {
		d.log.Warn("dashboard: list of jobs could not be read", "too_slow", ctx.Err() != nil, "error", err)
		p.LoadFailed, status = true, fiber.StatusServiceUnavailable
	}
	servers, ok := load(ctx, d, "servers", d.servers)
	var known handledKinds
	if ok {
		known = handled(servers)
	}
	kinds, _ := load(ctx, d, "kinds", d.db.Kinds)
	queues, _ := load(ctx, d, "queues", d.db.Queues)
	p.Rows, p.Next = presentRows(rows, known), next.String()
	p.Kinds, p.Queues = kindNames(kinds), queueNames(queues)
	p.Partial = !f.Query.IsZero() && !next.IsZero() && len(rows) < pageRows
	if f.Group != nil && len(rows) > 0 {
		p.GroupLine = rows[0].ErrorType + ": " + rows[0].ErrorLine
	}
	p.Exact = d.exactly(ctx, f.Query)
	whole := f.After.IsZero() && next.IsZero() && !p.LoadFailed
	switch {
	case named != nil:
		p.Tabs.ListFilter = list
		p.Tabs.Counts = map[views.State]views.Count{}
		for _, s := range store.States {
			p.Tabs.Counts[views.State(s.String())] = views.Count{N: named[s]}
		}
	case whole && !f.Query.IsZero(): // to count would be to search again
		p.Tabs.ListFilter = list
		p.Tabs.Counts = map[views.State]views.Count{list.State: {N: int64(len(rows))}}
	default:
		p.Tabs = d.tabs(ctx, f)
	}
	p.Never = !narrowed(f) && len(p.Tabs.Counts) > 0 && noCounts(p.Tabs.Counts)
	return p, status, nil
}

// pageRows is what a full page has.
const pageRows = 50

// exactly is the job whose id is all that was searched for.
func (d *Dashboard) exactly(ctx context.Context, q store.Query) *views.JobRowProps {
	id, ok := q.Number()
	if !ok {
		return nil
	}
	rows, _ := load(ctx, d, "job by id", func(ctx context.Context) ([]store.JobRow, error) { return d.db.JobRows(ctx, []int64{id}) })
	if len(rows) == 0 {
		return nil
	}
	row := presentRow(rows[0], nil)
	return &row
}

func narrowed(f store.JobFilter) bool {
	return f.Queue != "" || f.Kind != "" || f.Cause != 0 || f.Group != nil || !f.Query.IsZero()
}

// tabs counts every state without a filter in one query; under a filter only the
// state that is shown, because each count is a query.
func (d *Dashboard) tabs(ctx context.Context, f store.JobFilter) views.TabsProps {
	t := views.TabsProps{ListFilter: presentFilter(f)}
	if !narrowed(f) {
		counts, _ := load(ctx, d, "counts", d.db.Counts)
		t.Counts = presentCounts(counts)
		return t
	}
	f.After = store.Cursor{}
	if c, ok := load(ctx, d, "count", func(ctx context.Context) (store.Count, error) { return d.db.CountJobs(ctx, f) }); ok {
		t.Counts = map[views.State]views.Count{t.State: presentCount(c)}
	}
	return t
}

// jobsLook draws the rows that the page shows, wherever they went, and counts what
// a fresh page would show that this one does not. A search is not repeated with
// each change: its rows stay up to date, new matches come with the next fetch.
func (d *Dashboard) jobsLook(l views.Layout, f store.JobFilter, ids []int64) look {
	return func(ctx context.Context) (picture, error) {
		servers, err := d.servers(ctx)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		if !f.Query.IsZero() {
			aimed, _ := d.aim(ctx, f)
			pic := d.picture(l)
			err = d.addRows(ctx, &pic, l, ids, handled(servers), func(j store.JobRow) bool { return j.State == aimed.State })
			return pic, err
		}
		fresh, _, err := d.db.Jobs(ctx, f)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		tabs := d.tabs(ctx, f)
		pic := d.picture(l, sketch{"state-tabs", 0, func(l views.Layout, v int64) templ.Component {
			tabs.Version = v
			return views.StateTabs(l, tabs)
		}})
		pic.news = news(f, fresh, ids)
		err = d.addRows(ctx, &pic, l, ids, handled(servers), func(j store.JobRow) bool { return j.State == f.State })
		return pic, err
	}
}

// news counts rows of a fresh page that the shown one lacks. In newest-first lists
// only those before the first known row are new: behind it older ones slide in
// where rows left.
func news(f store.JobFilter, fresh []store.JobRow, ids []int64) int {
	shown := map[int64]bool{}
	for _, id := range ids {
		shown[id] = true
	}
	newestFirst := f.State == store.Failed || f.State == store.Succeeded || f.State == store.Deleted
	if newestFirst && !f.After.IsZero() {
		return 0
	}
	n := 0
	for _, j := range fresh {
		if !shown[j.ID] {
			n++
		} else if newestFirst {
			break
		}
	}
	return n
}

func noCounts(counts map[views.State]views.Count) bool {
	for _, c := range counts {
		if c.N > 0 || c.AtLeast {
			return false
		}
	}
	return true
}
