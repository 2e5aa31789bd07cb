package web

import (
	"context"
	"errors"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// params reads a parameter of an address: the request's, or that of the page a
// socket looks at.
type params func(name string) (string, error)

func jobsList(r *request) error {
	f, err := jobsFilter(r.query)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	p, status, err := r.d.jobsPage(ctx, f)
	if err != nil {
		return err
	}
	l := r.layout("Jobs", "jobs")
	l.LiveURL = r.d.liveURL(l.Here, p.Rows)
	return r.page(status, views.JobsPage(l, p))
}

// jobsFilter reads the filter of a list. Without a state it is the enqueued jobs.
func jobsFilter(get params) (f store.JobFilter, err error) {
	state, err1 := get("state")
	after, err2 := get("after")
	f.Queue, err = get("queue")
	kind, err3 := get("kind")
	if err = errors.Join(err, err1, err2, err3); err != nil {
		return f, err
	}
	f.Kind, f.State = kind, store.Enqueued
	if state != "" {
		if f.State, err = store.ParseState(state); err != nil {
			return f, badInput("Field state: %s.", err)
		}
	}
	f.After, err = store.ParseCursor(after)
	return f, err
}

func (d *Dashboard) jobsPage(ctx context.Context, f store.JobFilter) (views.JobsProps, int, error) {
	p := views.JobsProps{State: views.State(f.State.String()), Queue: f.Queue, Kind: f.Kind, After: f.After.String()}
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
	p.Tabs = d.tabs(ctx, f)
	p.Never = len(p.Tabs.Counts) > 0 && f.Queue == "" && f.Kind == "" && noCounts(p.Tabs.Counts)
	return p, status, nil
}

// tabs counts every state without a filter in one query; under a filter only the
// state that is shown, because each count is a query.
func (d *Dashboard) tabs(ctx context.Context, f store.JobFilter) views.TabsProps {
	t := views.TabsProps{Current: views.State(f.State.String()), Queue: f.Queue, Kind: f.Kind}
	if f.Queue == "" && f.Kind == "" {
		counts, _ := load(ctx, d, "counts", d.db.Counts)
		t.Counts = presentCounts(counts)
		return t
	}
	f.After = store.Cursor{}
	if c, ok := load(ctx, d, "count", func(ctx context.Context) (store.Count, error) { return d.db.CountJobs(ctx, f) }); ok {
		t.Counts = map[views.State]views.Count{t.Current: presentCount(c)}
	}
	return t
}

// jobsLook draws the rows that the page shows, wherever they went, and counts what
// a fresh page would show that this one does not.
func (d *Dashboard) jobsLook(l views.Layout, f store.JobFilter, ids []int64) look {
	return func(ctx context.Context) (picture, error) {
		fresh, _, err := d.db.Jobs(ctx, f)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		servers, err := d.servers(ctx)
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
