package web

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

func recurringShow(r *request) error {
	id, ok := recurringID(r.inner())
	if !ok {
		return store.ErrNotFound
	}
	return r.recurringPage(id)
}

// recurringID reads the id from an escaped address, decoded here, once, as
// queueName does.
func recurringID(inner string) (string, bool) {
	segment := strings.TrimSuffix(strings.TrimPrefix(inner, "/recurring/"), "/")
	id, err := url.PathUnescape(segment)
	bad := segment == "" || strings.Contains(segment, "/") || err != nil || !utf8.ValidString(id) || strings.ContainsRune(id, 0)
	return id, !bad
}

func (r *request) recurringPage(id string) error {
	ctx, cancel := r.timed()
	defer cancel()
	row, err := r.d.db.RecurringOne(ctx, id)
	if err != nil {
		return cut(ctx, err)
	}
	p := r.d.presentRecurringOne(r.locale(), row)
	p.Form = r.d.presentForm(row)
	l := r.layout(r.locale().Say("Recurring %s", id), "recurring")
	l.LiveURL = r.d.liveURL(l.Here, nil)
	return r.page(fiber.StatusOK, views.RecurringOnePage(l, p))
}

// recurringOneLook draws all of the page but the form, which is the person's.
func (d *Dashboard) recurringOneLook(l views.Layout, id string) look {
	return func(ctx context.Context) (picture, error) {
		row, err := d.db.RecurringOne(ctx, id)
		if err != nil {
			return picture{}, cut(ctx, err)
		}
		p := d.presentRecurringOne(l.Locale, row)
		part := func(name string, draw func(views.Layout, views.RecurringOneProps) templ.Component) sketch {
			return sketch{"recurring-" + name, 0, func(l views.Layout, v int64) templ.Component {
				p := p
				p.Version = v
				return draw(l, p)
			}}
		}
		return d.picture(l, part("header", views.RecurringHeader), part("actions", views.RecurringActions),
			part("fires", views.RecurringFires), part("facts", views.RecurringFacts)), nil
	}
}

// recurringScene finds the look of an address of the recurring pages; nil when it is
// none of theirs.
func (d *Dashboard) recurringScene(inner string, l views.Layout, get params, ids []int64) (look, error) {
	id, ok := "", true
	switch {
	case strings.EqualFold(inner, "/recurring"):
		var err error
		if id, err = get("id"); err != nil || id == "" {
			return d.recurringLook(l, ids), err
		}
	case strings.HasPrefix(inner, "/recurring/"):
		if id, ok = recurringID(inner); !ok {
			return nil, store.ErrNotFound
		}
	default:
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), pageWait)
	defer cancel()
	if _, err := d.db.RecurringOne(ctx, id); errors.Is(err, store.ErrNotFound) {
		return nil, store.ErrNotFound
	}
	return d.recurringOneLook(l, id), nil
}
