package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/a-h/templ"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

// pauseIt presses Pause and waits until the socket is gone.
func (s *site) pauseIt(c *websocket.Conn) {
	s.t.Helper()
	s.until(`live.dataset.mode === "live"`)
	eval[bool](s, `document.querySelector(".live-p").click(), true`)
	s.must(`live.dataset.mode === "paused"`)
	if _, _, err := c.ReadMessage(); err == nil {
		s.t.Error("the socket carried a message")
	}
}

// silent fails the test if the page fetched itself or opened a socket since.
func (s *site) silent(fetches int64) {
	s.t.Helper()
	eval[bool](s, frames)
	s.must(`live.dataset.mode === "paused"`)
	select {
	case <-s.conns:
		s.t.Error("a paused page opened a socket")
	default:
	}
	if n := s.fetches.Load(); n != fetches {
		s.t.Errorf("%d fetches of the page, want %d", n, fetches)
	}
}

// resumed presses Resume and waits for the one full fetch that brings what was missed.
func (s *site) resumed(fetches int64) {
	s.t.Helper()
	eval[bool](s, `document.querySelector(".live-p").click(), true`)
	c := s.accept()
	s.until(`document.querySelector("#job-row-48214 .st-failed")`)
	s.until(`live.dataset.mode === "live"`)
	s.fetchedOnce(c, fetches)
}

// fetchedOnce fails the test unless the page fetched itself once since, and kept its
// socket: a frame sent now is drawn before it looks.
func (s *site) fetchedOnce(c *websocket.Conn, fetches int64) {
	s.t.Helper()
	s.seq += 100 // frames left out
	s.push(c, s.seq+1)
	s.until(fmt.Sprintf(`news.textContent.trim() === "%d new: show"`, s.seq))
	eval[bool](s, frames)
	select {
	case <-s.conns:
		s.t.Error("the page opened a second socket")
	default:
	}
	if n := s.fetches.Load() - fetches; n != 1 {
		s.t.Errorf("%d fetches of the page, want exactly one", n)
	}
}

// missed makes the server's page differ from the one in the browser.
func (s *site) missed() {
	rows := fixtures.Rows(50, views.Processing)
	rows[4] = fixtures.Row(4, views.Failed)
	rows[4].Version += 1000
	s.show(func(l views.Layout) templ.Component {
		return views.JobsPage(l, views.JobsProps{ListFilter: views.ListFilter{State: views.Processing}, Rows: rows})
	})
}

func TestLIV07PauseSurvivesNavigation(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.pauseIt(c)
	if err := chromedp.Do(s.ctx, chromedp.Navigate(s.url)); err != nil {
		t.Fatal(err)
	}
	s.until(`live.dataset.mode === "paused"`)
	n := s.fetches.Load()
	s.missed()
	s.silent(n)
	s.resumed(n)
}

// The person goes to another tab and comes back.
func TestLIV07PauseSurvivesFocus(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.pauseIt(c)
	n := s.fetches.Load()
	s.missed()
	for _, hidden := range []bool{true, false} {
		eval[bool](s, fmt.Sprintf(`Object.defineProperty(document, "hidden", { configurable: true, value: %t }), document.dispatchEvent(new Event("visibilitychange", { bubbles: true })), dispatchEvent(new Event("focus")), true`, hidden))
		s.silent(n)
	}
	s.resumed(n)
}

// The network goes and comes back.
func TestLIV07PauseSurvivesReconnect(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.pauseIt(c)
	n := s.fetches.Load()
	s.missed()
	for _, online := range []bool{false, true} {
		state := chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: !online, DownloadThroughput: -1, UploadThroughput: -1})
			return err
		})
		if err := chromedp.Do(s.ctx, state); err != nil {
			t.Fatal(err)
		}
		s.until(map[bool]string{true: "navigator.onLine", false: "!navigator.onLine"}[online])
		s.silent(n)
	}
	s.resumed(n)
}

// The browser says that the network is gone after it came back, as it does when the
// machine was busy: the socket is new and stays, and nothing is fetched again.
func TestLIV07ResumeOutlivesLateNews(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.pauseIt(c)
	n := s.fetches.Load()
	s.missed()
	eval[bool](s, `document.querySelector(".live-p").click(), true`)
	c = s.accept()
	s.until(`live.dataset.mode === "live" && document.querySelector("#job-row-48214 .st-failed")`)
	eval[bool](s, `dispatchEvent(new Event("offline")), true`)
	s.fetchedOnce(c, n)
}

// A slow tab is told to fetch itself; the frames that were left out before that are
// no gap of their own.
func TestLIVReloadFetchesOnce(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.until(`live.dataset.mode === "live"`)
	n := s.fetches.Load()
	s.push(c, 0)
	if err := c.WriteJSON(map[string]any{"seq": 2, "reload": true}); err != nil {
		t.Fatal(err)
	}
	s.fetchedOnce(c, n)
}
