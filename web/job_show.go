package web

import (
	"context"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// historyPage is how many history rows a job's page shows at once.
const historyPage = 50

// logLines is how many lines of its log it shows.
const logLines = 200

func jobShow(r *request) error {
	id, ok := jobID(r.Params("id"))
	if !ok {
		return store.ErrNotFound
	}
	before, err := beforeRow(r.query)
	if err != nil {
		return err
	}
	tab, err := jobTab(r.query)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	p, err := r.d.jobPage(ctx, id, before)
	if err != nil {
		return cut(ctx, err)
	}
	p.Tab = tab
	l := r.layout(r.locale().Say("Job %s", p.ID), "jobs")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(fiber.StatusOK, views.JobPage(l, p))
}

func (d *Dashboard) jobPage(ctx context.Context, id, before int64) (views.JobProps, error) {
	detail, err := d.job(ctx, id, historyPage, before)
	if err != nil {
		return views.JobProps{}, err
	}
	var known handledKinds
	if servers, ok := load(ctx, d, "servers", d.servers); ok {
		known = handled(servers)
	}
	p := presentJob(detail, known)
	if n := len(detail.History); n == historyPage && n < detail.HistoryTotal {
		p.Older = strconv.FormatInt(detail.History[n-1].ID, 10)
	}
	if said, ok := load(ctx, d, "job log", func(ctx context.Context) (store.Said, error) { return d.db.Said(ctx, detail, logLines) }); ok {
		p.Said = presentSaid(said)
	}
	if family, ok := load(ctx, d, "continuations", func(ctx context.Context) (store.Family, error) { return d.db.Family(ctx, id, familyShown) }); ok {
		p.Family = presentFamily(family)
	}
	p.Said.Version += p.Version // a result comes with a history row
	p.Planned, p.GivesUpAt = planned(detail)
	d.addEffects(ctx, &p, id)
	return p, nil
}

// jobLook draws a job's parts again. On a page of older history rows the timeline
// stays as it is: those rows never change.
func (d *Dashboard) jobLook(l views.Layout, id, before int64, tab string) look {
	return func(ctx context.Context) (picture, error) {
		p, err := d.jobPage(ctx, id, 0)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		p.Tab = tab
		part := func(name string, draw func(views.Layout, views.JobProps) templ.Component) sketch {
			return sketch{name, p.Version, func(l views.Layout, v int64) templ.Component {
				p := p
				p.Version = v
				return draw(l, p)
			}}
		}
		said := sketch{"job-said", p.Said.Version, func(l views.Layout, v int64) templ.Component {
			p := p
			p.Said.Version = v
			return views.JobSaid(l, p)
		}}
		pic := d.picture(l, said, effectSketch("job-tabs", p, views.JobPanelTabs), effectSketch("job-claims", p, views.JobClaims),
			effectSketch("job-calls", p, views.JobCalls), part("job-header", views.JobHeader), part("job-actions", views.JobActions))
		if before == 0 {
			for _, s := range []sketch{
				part("job-timeline", views.Timeline), part("job-error", views.JobError), part("job-attempts", views.JobAttempts),
			} {
				pic.add(l, s)
			}
		}
		return pic, nil
	}
}

// jobID reads an id of an address; what is no number in range is no job.
func jobID(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == text
}

func beforeRow(get params) (int64, error) {
	text, err := get("before")
	if err != nil || text == "" {
		return 0, err
	}
	id, ok := jobID(text)
	if !ok {
		return 0, badInput("Field before: must be the number of a history row.")
	}
	return id, nil
}
