package web

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/views/locale"
)

// pageWait bounds all reads of one page together; what did not arrive by then is
// said on the page in its place.
const pageWait = 2 * time.Second

// request is one request that has passed the guards. The strings it hands out are
// copies and may outlive the handler.
type request struct {
	*fiber.Ctx
	d     *Dashboard
	who   person
	route route
	drawn time.Time      // of the page's layout
	reads *locale.Locale // once it was asked for
}

// serve wraps a handler into the same steps for every route: headers, guards,
// handler, errors. It always answers itself; the app's error handler sees nothing.
func (d *Dashboard) serve(rt route) fiber.Handler {
	return func(c *fiber.Ctx) (err error) {
		setHeaders(c)
		r := &request{Ctx: c, d: d, route: rt}
		defer func() {
			if p := recover(); p != nil {
				err = r.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		if err := r.guard(); err != nil {
			return r.fail(err)
		}
		if err := rt.handle(r); err != nil {
			return r.fail(err)
		}
		return nil
	}
}

// guard lets a request pass that may have what it asks for.
func (r *request) guard() error {
	if r.d.o.Access.loopback {
		if why, yes := notLocal(r.Ctx); yes {
			r.d.refused.note(r.Ctx, "not for this machine only")
			return why
		}
	}
	if r.route.open || r.scraper() {
		return nil
	}
	who, err := r.d.identify(r.Ctx)
	if err != nil {
		return err
	}
	r.who = who
	unsafe := r.Method() != fiber.MethodGet && r.Method() != fiber.MethodHead
	if unsafe {
		if why, yes := r.forged(); yes {
			r.d.refused.note(r.Ctx, "not from our own page")
			return why
		}
	}
	if !can(who.Role, r.route.action) {
		return notAllowed(who.Role, r.route.action)
	}
	if unsafe && r.route.action != changeTheme && r.d.readOnly() {
		return errReadOnly
	}
	if unsafe && r.route.api && !isJSON(r.Ctx) {
		return refuse(fiber.StatusUnsupportedMediaType, "Field Content-Type: must be application/json.")
	}
	if !unsafe && r.route.method != "" {
		return r.checkQuery()
	}
	return nil
}

func (r *request) checkQuery() error {
	var unknown []string
	r.Request().URI().QueryArgs().VisitAll(func(name, _ []byte) {
		if !slices.Contains(r.route.query, string(name)) {
			unknown = append(unknown, string(name))
		}
	})
	if unknown == nil {
		return nil
	}
	if len(r.route.query) == 0 {
		return badInput("Unknown filter %s. This page takes none.", shorten(unknown[0]))
	}
	return badInput("Unknown filter %s. Known ones: %s.", shorten(unknown[0]), strings.Join(r.route.query, ", "))
}

// timed is the context for all reads of a page.
func (r *request) timed() (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.UserContext(), pageWait)
}

// query reads a parameter of the address; text that Postgres could not take is refused.
func (r *request) query(name string) (string, error) {
	return plain(name, string(r.Request().URI().QueryArgs().Peek(name)))
}

// field reads a form field.
func (r *request) field(name string) (string, error) {
	return plain(name, string(r.Request().PostArgs().Peek(name)))
}

// maxText bounds one value; names of queues and kinds are far shorter.
const maxText = 8 << 10

func plain(name, value string) (string, error) {
	switch {
	case len(value) > maxText:
		return "", badInput("Field %s: has %d bytes; the limit is %d.", name, len(value), maxText)
	case !utf8.ValidString(value):
		return "", badInput("Field %s: is not valid UTF-8.", name)
	case strings.ContainsRune(value, 0):
		return "", badInput("Field %s: contains a NUL character.", name)
	}
	return value, nil
}

// shorten quotes text of a stranger for a sentence.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// seeOther ends an action: the browser fetches a page of ours with GET.
func (r *request) seeOther(raw string) error {
	r.Set(fiber.HeaderLocation, r.d.local(raw))
	r.Status(fiber.StatusSeeOther)
	return nil
}
