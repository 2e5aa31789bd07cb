package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views/fixtures"
	"github.com/tekrar/tekrar/views/locale"
)

// widths puts one page after the other in the place of the open one, whose stylesheets
// are those of all, and says how wide each is: a visit of each would take minutes.
const widths = `(async (names) => {
  const wide = {};
  for (const name of names) {
    const page = new DOMParser().parseFromString(await (await fetch("/" + name + ".html")).text(), "text/html");
    const root = document.documentElement;
    for (const { name } of [...root.attributes]) root.removeAttribute(name);
    for (const { name, value } of page.documentElement.attributes) root.setAttribute(name, value);
    document.body.replaceWith(document.adoptNode(page.body));
    wide[name] = root.scrollWidth;
  }
  return wide;
})`

// Words are as long as their language has them, and zones have long names: no page
// gets wider than the narrowest screen for that.
func TestEveryPageFitsNarrowScreens(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range fixtures.Pages() {
		names = append(names, p.Name)
	}
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range locale.Languages {
		t.Run(l.Tag, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(handler(look{language: l.Tag, zone: "America/Argentina/ComodRivadavia"}))
			t.Cleanup(server.Close)
			ctx := browser(t, 5*time.Minute)
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(320, 900), chromedp.Navigate(server.URL+"/index.html")); err != nil {
				t.Fatal(err)
			}
			wide, err := chromedp.Run(ctx, chromedp.Evaluate[map[string]int](fmt.Sprintf("%s(%s)", widths, list), chromedp.EvalAwaitPromise))
			if err != nil || len(wide) != len(names) {
				t.Fatal(len(wide), err)
			}
			for name, width := range wide {
				if width > 320 {
					t.Errorf("%s: %d pixels wide", name, width)
				}
			}
		})
	}
}
