package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views/fixtures"
)

// watch notes what the browser refuses, what the scripts throw and how far content
// moves by itself after it was drawn.
const watch = `
addEventListener("securitypolicyviolation", (e) => broken.push("policy: " + e.violatedDirective + " " + e.blockedURI), true);
addEventListener("error", (e) => broken.push("error: " + (e.message || e.target.src || e.target.href)), true);
window.broken = [];
window.shifted = 0;
new PerformanceObserver((l) => { for (const e of l.getEntries()) if (!e.hadRecentInput) shifted += e.value; }).observe({ type: "layout-shift", buffered: true });
`

// axeRun opens all details and says what axe-core finds: rule, element, why.
const axeRun = `(async () => {
  for (const d of document.querySelectorAll("details")) d.open = true;
  const found = await axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    rules: { "target-size": { enabled: true } },
    resultTypes: ["violations"], preload: false,
  });
  return found.violations.flatMap((v) => v.nodes.slice(0, 4).map((n) => v.id + " | " + n.html.slice(0, 160) + " | " + n.failureSummary.replace(/\s+/g, " ").slice(0, 240)));
})()`

// maxShift is the layout shift from which a page counts as restless.
const maxShift = 0.02

// Every page, narrow and wide, is clean for axe-core in both themes, breaks no policy,
// and does not move under the person's eyes.
func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	path := os.Getenv("AXE_JS")
	if path == "" {
		missing(t, "AXE_JS does not name axe.min.js: AXE_JS=$(.ci/axe) go test ./cmd/preview")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(look{}))
	t.Cleanup(server.Close)
	for _, width := range []int64{320, 1280} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			ctx := browser(t, 15*time.Minute)
			if err := chromedp.Do(ctx, onEveryPage(watch), onEveryPage(string(axe)), chromedp.EmulateViewport(width, 900)); err != nil {
				t.Fatal(err)
			}
			pages := fixtures.Pages()
			if len(pages) < 80 {
				t.Errorf("%d pages", len(pages))
			}
			for _, p := range pages {
				t.Run(p.Name, func(t *testing.T) { isAccessible(t, ctx, server.URL+"/"+p.Name+".html") })
			}
		})
	}
}

func isAccessible(t *testing.T, ctx context.Context, address string) {
	if err := chromedp.Do(ctx, prefers("light"), chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	shift, err := chromedp.Run(ctx, chromedp.Evaluate[float64](strings.Replace(frames, "r(true)", "r(shifted)", 1), chromedp.EvalAwaitPromise))
	if err != nil || shift >= maxShift {
		t.Errorf("content shifts by %.3f, %v", shift, err)
	}
	for _, theme := range []string{"light", "dark"} {
		if err := chromedp.Do(ctx, prefers(theme)); err != nil {
			t.Fatal(err)
		}
		found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("%s: %s", theme, f)
		}
	}
	broken, err := chromedp.Run(ctx, chromedp.Evaluate[[]string]("broken"))
	if err != nil || len(broken) > 0 {
		t.Errorf("%v, %v", broken, err)
	}
}
