package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views/fixtures"
)

// painted tells the server that the browser has drawn something.
const painted = `new PerformanceObserver(() => fetch("/painted" + location.pathname)).observe({ type: "paint", buffered: true });`

// A page that comes slowly stands still too: a table takes its columns from all
// of its rows, so nothing may be drawn of a page of which half has come.
func TestASlowPageDoesNotMove(t *testing.T) {
	t.Parallel()
	var now halves
	server := httptest.NewServer(&now)
	t.Cleanup(server.Close)
	ctx := browser(t, 5*time.Minute)
	if err := chromedp.Do(ctx, onEveryPage(watch), onEveryPage(painted)); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, p := range fixtures.Pages() {
		if !strings.HasSuffix(p.Name, "-odd") && !strings.HasSuffix(p.Name, "-hostile") && !strings.HasSuffix(p.Name, "-huge") {
			continue
		}
		tried++
		early := now.next("/" + p.Name + ".html")
		if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/"+p.Name+".html")); err != nil {
			t.Fatal(err)
		}
		shift, err := chromedp.Run(ctx, chromedp.Evaluate[float64](strings.Replace(frames, "r(true)", "r(shifted)", 1), chromedp.EvalAwaitPromise))
		if err != nil || shift >= maxShift {
			t.Errorf("%s moves by %.3f, %v", p.Name, shift, err)
		}
		select {
		case <-early:
			t.Errorf("%s was drawn when half of it had come", p.Name)
		default:
		}
	}
	if tried < 10 {
		t.Errorf("%d pages tried", tried)
	}
}

// halves serves the pages in two halves, the second when the first has been drawn, or
// after a while in which a browser would have drawn it.
type halves struct {
	sync.Mutex
	path         string
	drawn, early chan struct{}
}

// next begins a page and returns what closes when its first half is drawn alone.
func (h *halves) next(path string) chan struct{} {
	h.Lock()
	defer h.Unlock()
	h.path = path
	h.drawn, h.early = make(chan struct{}, 8), make(chan struct{})
	return h.early
}

func (h *halves) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Lock()
	path, drawn, early := h.path, h.drawn, h.early
	h.Unlock()
	if of, ok := strings.CutPrefix(r.URL.Path, "/painted"); ok {
		if of == path {
			drawn <- struct{}{}
		}
		return
	}
	whole := httptest.NewRecorder()
	handler(look{}).ServeHTTP(whole, r)
	for k, v := range whole.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(whole.Code)
	page := whole.Body.Bytes()
	if strings.HasSuffix(r.URL.Path, ".html") {
		half := len(page) / 2
		if at := bytes.Index(page, []byte("</tr>")); at > 0 {
			half = at + len(page[at:])/3
		}
		_, _ = w.Write(page[:half])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-drawn:
			close(early)
		case <-time.After(300 * time.Millisecond):
		}
		page = page[half:]
	}
	_, _ = w.Write(page)
}
