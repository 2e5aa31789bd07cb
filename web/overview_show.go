package web

import (
	"context"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

const newestFailed = 5

func overviewShow(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	p, known := r.d.overview(ctx)
	failed, ok := load(ctx, r.d, "newest failed", func(ctx context.Context) ([]store.JobRow, error) {
		rows, _, err := r.d.db.Jobs(ctx, store.JobFilter{State: store.Failed, Limit: newestFailed})
		return rows, err
	})
	p.Failed, p.LoadFailed = presentRows(failed, known), !ok
	l := r.layout("Overview", "overview")
	l.LiveURL = r.d.liveURL(l.Here, p.Failed)
	return r.page(fiber.StatusOK, views.OverviewPage(l, p))
}

// overview takes seven queries at most; the page adds one for its failed jobs.
func (d *Dashboard) overview(ctx context.Context) (views.OverviewProps, handledKinds) {
	health, queues, known := d.health(ctx)
	return views.OverviewProps{
		Health: health,
		Queues: views.QueuesProps{Rows: presentQueues(queues), Compact: true, LoadFailed: health.LoadFailed && queues == nil},
		Chart:  d.chart(ctx, views.ChartProps{Span: 6 * time.Hour, Width: 5 * time.Minute, Compact: true}),
	}, known
}

// overviewLook draws the overview's parts again. Rows that the page shows stay,
// dimmed when they are no longer failed; newer ones come with the next fetch.
func (d *Dashboard) overviewLook(l views.Layout, ids []int64) look {
	return func(ctx context.Context) (picture, error) {
		p, known := d.overview(ctx)
		if p.Health.LoadFailed || p.Chart.LoadFailed {
			return picture{}, cut(ctx, errPart)
		}
		pic := d.picture(l,
			sketch{"verdict", 0, func(l views.Layout, v int64) templ.Component {
				p.Health.Version = v
				return views.Verdict(l, p.Health)
			}},
			sketch{"tiles", 0, func(l views.Layout, v int64) templ.Component {
				p.Health.Version = v
				return views.Tiles(l, p.Health)
			}},
			chartSketch(p.Chart),
			queuesSketch(p.Queues),
		)
		plain := l
		plain.CanAct = false // the table here has no ticks
		err := d.addRows(ctx, &pic, plain, ids, known, func(j store.JobRow) bool { return j.State == store.Failed })
		return pic, err
	}
}
