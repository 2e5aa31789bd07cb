package main

import (
	"testing"

	"github.com/a-h/templ"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

// A page that looks again as it did when it was fetched is fetched anew if frames
// came since: what they brought is on the screen. Without frames it is not.
func TestLIVUnchangedPageIsKeptOnlyWithoutFrames(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	version := func(v int64) {
		rows := fixtures.Rows(50, views.Processing)
		rows[4].Version = v
		s.show(func(l views.Layout) templ.Component {
			return views.JobsPage(l, views.JobsProps{ListFilter: views.ListFilter{State: views.Processing}, Rows: rows})
		})
	}
	reconnect := func(c *websocket.Conn) *websocket.Conn {
		t.Helper()
		n := s.fetches.Load()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = s.accept()
		s.until(`live.dataset.mode === "live"`)
		for s.fetches.Load() == n {
			eval[bool](s, frames)
		}
		return c
	}
	s.until(`live.dataset.mode === "live"`)
	s.mu.Lock()
	s.tag = `W/"one"`
	s.mu.Unlock()
	version(910_000)
	c = reconnect(c)
	s.until(`document.querySelector("#job-row-48214").dataset.v === "910000"`)
	s.push(c, 0, row(t, fixtures.Row(4, views.Failed), 920_000))
	s.until(`document.querySelector("#job-row-48214 .st-failed")`)
	version(930_000)
	c = reconnect(c)
	s.until(`document.querySelector("#job-row-48214 .st-processing")`)
	if n := s.same.Load(); n != 0 {
		t.Errorf("%d answers 304 although frames had come", n)
	}
	version(940_000)
	reconnect(c)
	s.until(`live.dataset.mode === "live"`)
	s.must(`document.querySelector("#job-row-48214").dataset.v === "930000"`)
	if n := s.same.Load(); n != 1 {
		t.Errorf("%d answers 304, want 1", n)
	}
}
