package web

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// layout is what every page shows around its content. Title and nav as in views.Layout.
func (r *request) layout(title, nav string) views.Layout {
	l := r.fragment()
	l.Title, l.Nav = title, nav
	l.User, l.Role = r.who.Name, r.who.Role.String()
	l.Environment, l.Demo = r.d.o.Environment, r.d.o.Demo != nil
	l.Theme = keep(r.Cookies(themeCookie))
	l.Dense, l.NoKeys = r.Cookies(rowsCookie) == "dense", r.Cookies(keysCookie) == "off"
	l.Token = r.d.token(r.Ctx)
	l.Here = r.here()
	l.Notice = r.takeNotice()
	r.drawn = l.Now
	return l
}

// fragment is the layout of a part drawn for many sockets at once.
func (r *request) fragment() views.Layout {
	writes, role := !r.d.readOnly(), r.who.Role
	return views.Layout{Locale: r.locale(), Links: r.d.links, CanAct: writes && can(role, requeue), CanPurge: writes && can(role, purgeClaims), Now: r.d.clock.now()}
}

// here is the page's own address as the browser sees it; for the answer to a POST
// the start page, because its address cannot be fetched.
func (r *request) here() string {
	if r.route.method != fiber.MethodGet {
		return r.d.links.Overview()
	}
	here := r.d.prefix + r.inner()
	if q := string(r.Request().URI().QueryString()); q != "" {
		here += "?" + q
	}
	return r.d.local(here)
}

// inner is the address as it came, still escaped, without what it is mounted under,
// which may include the path of an outer app: "/queues/a%2Fb".
func (r *request) inner() string {
	under := len(strings.TrimSuffix(r.Route().Path, r.route.path))
	inner := string(r.Request().URI().PathOriginal())
	if inner = inner[min(under, len(inner)):]; inner == "" {
		return "/"
	}
	return inner
}

// page renders into memory first, so that an error becomes a clean 500. A page that
// was found has an ETag; one that the browser has already is not sent again.
func (r *request) page(status int, content templ.Component) error {
	var b bytes.Buffer
	if err := content.Render(r.UserContext(), &b); err != nil {
		return err
	}
	r.Set(fiber.HeaderVary, pageVary)
	if status == fiber.StatusOK && r.unchanged(b.Bytes()) {
		r.Status(fiber.StatusNotModified)
		return nil
	}
	r.Status(status)
	r.Set(fiber.HeaderContentType, "text/html; charset=utf-8")
	return r.sendPage(b.Bytes())
}

// pageVary is what else than its address a page depends on: who asks, what they chose
// for their browser, and how it is sent. No cache keeps one (no-store); this is for
// those that do not obey.
const pageVary = "Authorization, Cookie, Accept, Accept-Encoding, Accept-Language, Sec-Fetch-Site"

// draw renders a fragment.
func draw(c templ.Component) (string, error) {
	var b bytes.Buffer
	err := c.Render(context.Background(), &b)
	return b.String(), err
}

// tooSlow tells a query that was cut off from a failure.
func tooSlow(err error) bool {
	return errors.Is(err, context.DeadlineExceeded)
}

// clock is the database's clock, as far as we have seen it: an offset to our own.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

func (c *clock) saw(database time.Time) { c.offset.Store(int64(time.Until(database))) }

// servers reads the servers and sets the clock by them.
func (d *Dashboard) servers(ctx context.Context) ([]store.ServerRow, error) {
	rows, err := d.db.Servers(ctx)
	if len(rows) > 0 {
		d.clock.saw(rows[0].Now)
	}
	return rows, err
}
