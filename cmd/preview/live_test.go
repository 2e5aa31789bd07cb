package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/static"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

type part struct {
	ID   string `json:"id"`
	V    int64  `json:"v"`
	HTML string `json:"html"`
}

type frame struct {
	Seq   int    `json:"seq"`
	Parts []part `json:"parts"`
	News  int    `json:"news"`
	AsOf  string `json:"asOf"`
}

// site is one live page and the server's end of its sockets.
type site struct {
	t     *testing.T
	ctx   context.Context
	url   string
	conns chan *websocket.Conn

	mu   sync.Mutex
	page func(views.Layout) templ.Component
	seq  int
	tag  string // the page's ETag, "" none

	fetches atomic.Int64 // of the page
	same    atomic.Int64 // of them, answered with 304
}

func (s *site) show(page func(views.Layout) templ.Component) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = page
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/live":
		u := websocket.Upgrader{}
		if c, err := u.Upgrade(w, r, nil); err == nil {
			s.conns <- c
		}
	case r.URL.Path == "/page":
		s.fetches.Add(1)
		l := fixtures.Layout(views.Links{Assets: static.Names()})
		l.LiveURL = "/live?view=%2Fpage"
		s.mu.Lock()
		c, tag := s.page(l), s.tag
		s.mu.Unlock()
		if w.Header().Set("ETag", tag); tag != "" && r.Header.Get("If-None-Match") == tag {
			s.same.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := c.Render(r.Context(), w); err != nil {
			s.t.Error(err)
		}
	default:
		handler(look{}).ServeHTTP(w, r)
	}
}

// open starts a browser on the page and returns the server's end of its socket.
func open(t *testing.T, page func(views.Layout) templ.Component) (*site, *websocket.Conn) {
	t.Helper()
	s := &site{t: t, page: page, conns: make(chan *websocket.Conn, 8)}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL + "/page"
	s.ctx = browser(t, 90*time.Second)
	if err := chromedp.Do(s.ctx, chromedp.Navigate(s.url)); err != nil {
		t.Fatal(err)
	}
	return s, s.accept()
}

func (s *site) accept() *websocket.Conn {
	s.t.Helper()
	select {
	case c := <-s.conns:
		return c
	case <-time.After(20 * time.Second):
		s.t.Fatal("the page opened no socket")
	}
	return nil
}

func (s *site) push(c *websocket.Conn, news int, parts ...part) {
	s.t.Helper()
	s.seq++
	if err := c.WriteJSON(frame{s.seq, parts, news, fixtures.Now.Format(time.RFC3339Nano)}); err != nil {
		s.t.Fatal(err)
	}
}

func eval[T any](s *site, js string) T {
	s.t.Helper()
	v, err := chromedp.Run(s.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		s.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for a condition of the page.
func (s *site) until(js string) {
	s.t.Helper()
	for end := time.Now().Add(15 * time.Second); !eval[bool](s, "!!("+js+")"); {
		if time.Now().After(end) {
			s.t.Fatalf("never true: %s", js)
		}
	}
}

func (s *site) must(js string) {
	s.t.Helper()
	if !eval[bool](s, "!!("+js+")") {
		s.t.Errorf("not true: %s", js)
	}
}

// frames lets the page draw, so that what was not to happen had its chance.
const frames = `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`

func row(t *testing.T, r views.JobRowProps, v int64) part {
	t.Helper()
	l := fixtures.Layout(views.Links{})
	l.Token = ""
	r.Version = v
	return part{"job-row-" + r.ID, v, html(t, views.JobRow(l, r))}
}

func html(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func processing(l views.Layout) templ.Component {
	return views.JobsPage(l, views.JobsProps{ListFilter: views.ListFilter{State: views.Processing}, Rows: fixtures.Rows(50, views.Processing)})
}

func TestLIVRowsArePatchedAndNothingOfThePersonsIsLost(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.until(`live.dataset.mode === "live"`)
	eval[bool](s, `window.box = document.querySelector("#job-row-48210 input"), box.click(), box.focus(), window.ids = [...document.querySelectorAll("tbody tr")].map((r) => r.id).join(), scrollTo(0, 300), true`)
	done := fixtures.Row(0, views.Succeeded)
	done.Gone = true
	s.push(c, 12, row(t, done, 900100), row(t, fixtures.Row(1, views.Failed), 5), row(t, fixtures.Row(99, views.Failed), 950000), row(t, fixtures.Row(3, views.Failed), 900103))
	s.until(`document.querySelector("#job-row-48213 .st-failed")`)
	s.must(`document.querySelector("#job-row-48210 .st-succeeded")`)
	s.must(`document.querySelector("#job-row-48210").classList.contains("gone")`)
	s.must(`box.isConnected && box.checked && document.activeElement === box && box.value === "48210:succeeded"`)
	s.must(`document.querySelector("#job-row-48211 .st-processing")`) // older never overwrites newer
	s.must(`ids === [...document.querySelectorAll("tbody tr")].map((r) => r.id).join()`)
	s.must(`!news.hidden && news.textContent.trim() === "12 new: show" && scrollY === 300`)
	s.must(`document.querySelector("[data-ticked]").textContent === "1 ticked"`)
}

func TestLIVPatchesWaitWhileTextIsSelected(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.until(`live.dataset.mode === "live"`)
	eval[bool](s, `getSelection().selectAllChildren(document.querySelector("#job-row-48211 .kind")), true`)
	s.push(c, 3, row(t, fixtures.Row(1, views.Failed), 900200))
	s.until(`!news.hidden`) // the frame has arrived
	eval[bool](s, frames)
	s.must(`document.querySelector("#job-row-48211 .st-processing") && getSelection().toString() !== ""`)
	eval[bool](s, `getSelection().removeAllRanges(), true`)
	s.until(`document.querySelector("#job-row-48211 .st-failed")`)
}

func TestLIVJobPageKeepsOpenDetailsAndFillsTokens(t *testing.T) {
	t.Parallel()
	s, c := open(t, func(l views.Layout) templ.Component { return views.JobPage(l, fixtures.Job(views.Failed)) })
	s.until(`live.dataset.mode === "live"`)
	eval[bool](s, `document.querySelector("#stack summary").click(), document.querySelector("#btn-once").focus(), window.first = document.querySelector("#h-7000"), true`)
	next := fixtures.Job(views.Processing)
	next.Version = 900001
	l := fixtures.Layout(views.Links{})
	l.Token = ""
	s.push(c, 0,
		part{"job-header", 900001, html(t, views.JobHeader(l, next))}, part{"job-actions", 900001, html(t, views.JobActions(l, next))},
		part{"job-timeline", 900001, html(t, views.Timeline(l, next))}, part{"job-error", 900001, html(t, views.JobError(l, next))})
	s.until(`document.querySelector("#job-header .st-processing")`)
	s.must(`stack.open`)
	s.must(`first.isConnected && document.querySelectorAll(".tl li").length === 10`)
	s.must(`!document.querySelector("#btn-once") && document.activeElement.id === "btn-cancel"`)
	s.must(`[...document.querySelectorAll("input[name=token]")].every((i) => i.value === "token-of-this-session")`)
}

func TestLIVReconnectFetchesThePage(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.until(`live.dataset.mode === "live"`)
	rows := fixtures.Rows(49, views.Processing)
	rows[4] = fixtures.Row(4, views.Failed)
	rows[4].Version += 1000
	s.show(func(l views.Layout) templ.Component {
		return views.JobsPage(l, views.JobsProps{ListFilter: views.ListFilter{State: views.Processing}, Rows: rows})
	})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	s.accept()
	s.until(`document.querySelector("#job-row-48214 .st-failed")`)
	s.until(`live.dataset.mode === "live"`)
	s.must(`document.querySelector("#job-row-48259").classList.contains("gone")`)
}

func TestPreviewWritesEveryPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := write(dir, look{theme: "dark"}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(fixtures.Pages()) + 1; len(files) != want {
		t.Errorf("%d entries, want %d", len(files), want)
	}
}
