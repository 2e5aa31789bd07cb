package web

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func queuesList(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	return r.queuesPage(r.locale().Say("Queues"), r.d.queues(ctx, ""))
}

// queueShow is the page of one queue: the same table with its one row.
func queueShow(r *request) error {
	name, ok := queueName(r.inner())
	if !ok {
		return store.ErrNotFound
	}
	ctx, cancel := r.timed()
	defer cancel()
	p := r.d.queues(ctx, name)
	if !p.LoadFailed && len(p.Rows) == 0 {
		return store.ErrNotFound
	}
	return r.queuesPage(r.locale().Say("Queue %s", name), p)
}

func (r *request) queuesPage(title string, p views.QueuesProps) error {
	status := fiber.StatusOK
	if p.LoadFailed {
		status = fiber.StatusServiceUnavailable
	}
	l := r.layout(title, "queues")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(status, views.QueuesPage(l, p))
}

// queueName reads the name from an escaped address. It is decoded here, once:
// decoded by the router, "a%2Fb" would be two segments.
func queueName(inner string) (string, bool) {
	segment := strings.TrimSuffix(strings.TrimPrefix(inner, "/queues/"), "/")
	name, err := url.PathUnescape(segment)
	bad := segment == "" || strings.Contains(segment, "/") || err != nil || !utf8.ValidString(name)
	return name, !bad
}

// queues reads all queues, or the one of that name.
func (d *Dashboard) queues(ctx context.Context, name string) views.QueuesProps {
	rows, ok := load(ctx, d, "queues", d.db.Queues)
	p := views.QueuesProps{LoadFailed: !ok}
	for _, q := range presentQueues(rows) {
		if name == "" || q.Name == name {
			p.Rows = append(p.Rows, q)
		}
	}
	return p
}

func (d *Dashboard) queuesLook(l views.Layout, name string) look {
	return func(ctx context.Context) (picture, error) {
		p := d.queues(ctx, name)
		if p.LoadFailed {
			return picture{}, cut(ctx, errPart)
		}
		return d.picture(l, queuesSketch(p)), nil
	}
}

func queuesSketch(p views.QueuesProps) sketch {
	return sketch{"queue-rows", 0, func(l views.Layout, v int64) templ.Component {
		p.Version = v
		return views.QueueRows(l, p)
	}}
}
