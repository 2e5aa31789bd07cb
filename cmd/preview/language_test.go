package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views/fixtures"
)

// Turkish words are longer, and zones have long names: no view gets wider than the
// narrowest screen for that, nor do the longest sentences.
func TestTurkishFitsNarrowScreens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler(look{language: "tr", zone: "America/Argentina/ComodRivadavia"}))
	t.Cleanup(server.Close)
	ctx := browser(t, 5*time.Minute)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(320, 900)); err != nil {
		t.Fatal(err)
	}
	pages := firstOfEach(fixtures.Pages())
	for _, p := range fixtures.Pages() {
		if p.Name == "overview-early" || p.Name == "job-cancel-ignored" {
			pages = append(pages, p)
		}
	}
	for _, p := range pages {
		if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/"+p.Name+".html")); err != nil {
			t.Fatal(err)
		}
		width, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth"))
		if err != nil || width > 320 {
			t.Errorf("%s: %d pixels wide, %v", p.Name, width, err)
		}
	}
}
