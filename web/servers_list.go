package web

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/views"
)

func serversList(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	p := r.d.serversPage(ctx)
	kinds, ok := load(ctx, r.d, "kinds", r.d.db.Kinds)
	p.Kinds, p.LoadFailed = presentKinds(kinds), p.LoadFailed || !ok
	status := fiber.StatusOK
	if p.LoadFailed {
		status = fiber.StatusServiceUnavailable
	}
	l := r.layout(r.locale().Say("Servers"), "servers")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(status, views.ServersPage(l, p))
}

func (d *Dashboard) serversPage(ctx context.Context) views.ServersProps {
	rows, ok := load(ctx, d, "servers", d.servers)
	return views.ServersProps{Rows: presentServers(rows), LoadFailed: !ok}
}

func (d *Dashboard) serversLook(l views.Layout) look {
	return func(ctx context.Context) (picture, error) {
		p := d.serversPage(ctx)
		if p.LoadFailed {
			return picture{}, cut(ctx, errPart)
		}
		return d.picture(l, sketch{"server-rows", 0, func(l views.Layout, v int64) templ.Component {
			p.Version = v
			return views.ServerRows(l, p)
		}}), nil
	}
}
