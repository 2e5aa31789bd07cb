package web

import (
	"context"
	"errors"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/views"
)

// spans are the ranges of the chart with the width of a bar.
var spans = map[string]struct{ span, width time.Duration }{
	"1h":  {time.Hour, time.Minute},
	"6h":  {6 * time.Hour, 5 * time.Minute},
	"24h": {24 * time.Hour, 15 * time.Minute},
	"7d":  {7 * 24 * time.Hour, 2 * time.Hour},
	"30d": {30 * 24 * time.Hour, 8 * time.Hour},
}

func attemptsShow(r *request) error {
	chart, err := chartFilter(r.query)
	if err != nil {
		return err
	}
	ctx, cancel := r.timed()
	defer cancel()
	p := views.AttemptsProps{Chart: r.d.chart(ctx, chart), Work: r.d.retryWork(ctx, chart)}
	kinds, _ := load(ctx, r.d, "kinds", r.d.db.Kinds)
	queues, _ := load(ctx, r.d, "queues", r.d.db.Queues)
	p.Kinds, p.Queues = kindNames(kinds), queueNames(queues)
	p.CodeVersions, _ = load(ctx, r.d, "versions", r.d.db.Versions)
	status := fiber.StatusOK
	if p.Chart.LoadFailed {
		status = fiber.StatusServiceUnavailable
	}
	l := r.layout(r.locale().Say("Attempts"), "attempts")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(status, views.AttemptsPage(l, p))
}

// chartFilter reads which chart; six hours of everything by count when nothing is said.
func chartFilter(get params) (p views.ChartProps, err error) {
	span, err1 := get("span")
	scale, err2 := get("scale")
	kind, err3 := get("kind")
	queue, err4 := get("queue")
	version, err5 := get("version")
	if err = errors.Join(err1, err2, err3, err4, err5); err != nil {
		return p, err
	}
	if span == "" {
		span = "6h"
	}
	s, ok := spans[span]
	if !ok {
		return p, badInput("Field span: unknown %s. Known ones: 1h, 6h, 24h, 7d, 30d.", shorten(span))
	}
	p = views.ChartProps{Span: s.span, Width: s.width, Scale: views.Scale(scale), Kind: kind, Queue: queue, CodeVersion: version}
	switch p.Scale {
	case "":
		p.Scale = views.ScaleCount
	case views.ScaleCount, views.ScaleShare:
	default:
		return p, badInput("Field scale: unknown %s. Known ones: count, share.", shorten(scale))
	}
	return p, nil
}

func (d *Dashboard) attemptsLook(l views.Layout, chart views.ChartProps) look {
	return func(ctx context.Context) (picture, error) {
		p := d.chart(ctx, chart)
		if p.LoadFailed {
			return picture{}, cut(ctx, errPart)
		}
		return d.picture(l, chartSketch(p)), nil
	}
}

func chartSketch(p views.ChartProps) sketch {
	return sketch{"attempts-chart", 0, func(l views.Layout, v int64) templ.Component {
		p.Version = v
		return views.AttemptsChart(l, p)
	}}
}
