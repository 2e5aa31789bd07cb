package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views/fixtures"
	"github.com/tekrar/tekrar/views/locale"
)

// Words are as long as their language has them, and zones have long names: no page
// gets wider than the narrowest screen for that.
func TestEveryPageFitsNarrowScreens(t *testing.T) {
	t.Parallel()
	for _, l := range locale.Languages {
		t.Run(l.Tag, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(handler(look{language: l.Tag, zone: "America/Argentina/ComodRivadavia"}))
			t.Cleanup(server.Close)
			ctx := browser(t, 5*time.Minute)
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(320, 900)); err != nil {
				t.Fatal(err)
			}
			for _, p := range fixtures.Pages() {
				if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/"+p.Name+".html")); err != nil {
					t.Fatal(err)
				}
				width, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.documentElement.scrollWidth"))
				if err != nil || width > 320 {
					t.Errorf("%s: %d pixels wide, %v", p.Name, width, err)
				}
			}
		})
	}
}
