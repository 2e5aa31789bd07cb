package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/gorilla/websocket"
	"github.com/valyala/fasthttp"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// upgrader is shared by all handshakes. The origin is checked before it, so that a
// refusal is one of our pages.
var upgrader = websocket.Upgrader{
	ReadBufferSize: 512, WriteBufferSize: 1024, WriteBufferPool: &sync.Pool{}, EnableCompression: true,
	CheckOrigin: func(*http.Request) bool { return true },
}

// liveOpen is the handshake of a page's socket. A browser always sends Origin, and
// it must be ours: any other page could otherwise read jobs with the person's login.
// Without an Origin it is no browser, holds no one's cookies, and needs access like
// any request.
func liveOpen(r *request) error {
	if origin := r.Get(fiber.HeaderOrigin); origin != "" && !r.d.ownOrigin(origin, hostOf(r.Ctx)) {
		return refuse(fiber.StatusForbidden, "The live socket opens for this dashboard's own pages only.")
	}
	if r.d.hub.refuses() {
		return refuse(fiber.StatusServiceUnavailable, "The server is shutting down.")
	}
	s, known, err := r.scene()
	if err != nil {
		return err
	}
	allowed := r.d.recheck(r)
	err = upgrade(r.Ctx, &upgrader, func(conn *websocket.Conn) {
		r.d.hub.show(s, newTab(conn, allowed, known))
	})
	if errors.Is(err, errNoUpgrade) {
		r.d.log.Warn("dashboard: no live socket", "error", err)
		return refuse(fiber.StatusNotImplemented, "The live socket needs the connection itself, and this app runs behind adaptor.FiberApp or something like it. Serve the Fiber app with Listen; pages work without the socket, by polling.")
	}
	return err
}

// recheck asks the access decision again with what the handshake said.
func (d *Dashboard) recheck(r *request) func() bool {
	app, from, first := r.App(), r.Context().RemoteAddr(), r.who
	saved := &fasthttp.Request{}
	r.Request().CopyTo(saved)
	return func() (ok bool) {
		defer func() {
			if p := recover(); p != nil {
				d.log.Warn("dashboard: access hook panicked on a live socket", "panic", p)
				ok = false
			}
		}()
		var raw fasthttp.RequestCtx
		raw.Init(saved, from, nil)
		c := app.AcquireCtx(&raw)
		defer app.ReleaseCtx(c)
		who, err := d.o.Access.identify(c)
		return err == nil && who == first
	}
}

// liveURL is the socket address of a page: which page, and which rows in which
// version it shows.
func (d *Dashboard) liveURL(here string, rows []views.JobRowProps) string {
	var ids, vs []string
	for _, row := range rows {
		ids, vs = append(ids, row.ID), append(vs, strconv.FormatInt(row.Version, 10))
	}
	u := d.links.Path("/live") + "?view=" + url.QueryEscape(here)
	if len(ids) > 0 {
		u += "&ids=" + strings.Join(ids, ",") + "&vs=" + strings.Join(vs, ",")
	}
	return u
}

// scene reads what a socket wants to see.
func (r *request) scene() (s scene, known map[string]int64, err error) {
	view, err := r.query("view")
	if err != nil {
		return s, nil, err
	}
	u, ok := r.d.localURL(view)
	if !ok {
		return s, nil, badInput("Field view: must be the address of a page of this dashboard.")
	}
	ids, err1 := r.numbers("ids")
	vs, err2 := r.numbers("vs")
	if err := errors.Join(err1, err2); err != nil {
		return s, nil, err
	}
	known = map[string]int64{}
	for i := range min(len(ids), len(vs)) {
		known["job-row-"+strconv.FormatInt(ids[i], 10)] = vs[i]
	}
	rows, _ := r.query("ids")
	l := r.fragment()
	s, err = r.d.sceneOf(u, l, ids)
	s.key = strings.Join([]string{r.d.within(u), u.Query().Encode(), rows, r.who.Role.String(), l.Tag(), l.Zone()}, "\n")
	return s, known, err
}

// sceneOf finds what to draw for a page's address.
func (d *Dashboard) sceneOf(u *url.URL, l views.Layout, ids []int64) (s scene, err error) {
	values := u.Query()
	get := func(name string) (string, error) { return plain(name, values.Get(name)) }
	inner := strings.TrimSuffix(d.within(u), "/")
	switch strings.ToLower(inner) {
	case "":
		s.look = d.overviewLook(l)
		return s, nil
	case "/jobs":
		f, err := d.jobsFilter(get)
		s.look = d.jobsLook(l, f, ids)
		return s, err
	case "/attempts":
		chart, err := chartFilter(get)
		s.look = d.attemptsLook(l, chart)
		return s, err
	case "/queues":
		s.look = d.queuesLook(l, "")
		return s, nil
	case "/servers":
		s.look = d.serversLook(l)
		return s, nil
	}
	if name, ok := queueName(inner); ok && strings.HasPrefix(strings.ToLower(inner), "/queues/") {
		s.look = d.queuesLook(l, name)
		return s, nil
	}
	if s.look = d.operationsScene(inner, l); s.look != nil {
		return s, nil
	}
	if s.look, err = d.recurringScene(inner, l, get, ids); s.look != nil || err != nil {
		return s, err
	}
	if s.look, err = d.claimsScene(inner, l, get, ids); s.look != nil || err != nil {
		return s, err
	}
	dir, last, _ := strings.Cut(strings.TrimPrefix(inner, "/"), "/")
	id, ok := jobID(last)
	tab, _ := get("tab")
	before, err := beforeRow(get)
	if !ok || !strings.EqualFold(dir, "jobs") || err != nil {
		return s, errors.Join(store.ErrNotFound, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), pageWait)
	defer cancel()
	if rows, err := d.db.JobRows(ctx, []int64{id}); err == nil && len(rows) == 0 {
		return s, store.ErrNotFound
	}
	s.job, s.look = id, d.jobLook(l, id, before, tab)
	return s, nil
}

// numbers reads a list of ids or versions: "7,12".
func (r *request) numbers(name string) (out []int64, err error) {
	text, err := r.query(name)
	if err != nil || text == "" {
		return nil, err
	}
	for one := range strings.SplitSeq(text, ",") {
		n, ok := jobID(one)
		if !ok || len(out) == maxTicked {
			return nil, badInput("Field %s: must be at most %d numbers with commas between them.", name, maxTicked)
		}
		out = append(out, n)
	}
	return out, nil
}
