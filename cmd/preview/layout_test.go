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

// cramped puts one page after the other in the place of the open one, whose stylesheets
// are those of all (a visit of each would take minutes), and lists what is wider than
// the screen, on more lines than it should be, or touches the text above it. What a
// person typed into a button may be as long as they like.
const cramped = `(async (names) => {
  const found = {};
  const shown = (e) => e.getClientRects().length > 0;
  const lines = (e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    const tops = [...range.getClientRects()].filter((r) => r.width > 1).map((r) => r.bottom);
    return Math.max(...tops) - Math.min(...tops) > 12;
  };
  for (const name of names) {
    const got = await fetch("/" + name + ".html");
    const page = new DOMParser().parseFromString(await got.text(), "text/html");
    const root = document.documentElement;
    for (const { name } of [...root.attributes]) root.removeAttribute(name);
    for (const { name, value } of page.documentElement.attributes) root.setAttribute(name, value);
    document.body.replaceWith(document.adoptNode(page.body));
    if (!got.ok) found[name] = ["status " + got.status];
    const wrong = root.scrollWidth > innerWidth ? ["the page is " + root.scrollWidth + " pixels wide"] : [];
    const texts = [...document.querySelectorAll(":is(button, .btn)")].filter((e) => shown(e) && e.innerText.length <= 24 && !e.closest(".saved"));
    for (const e of texts) if (lines(e)) wrong.push("two lines: " + e.innerText);
    for (const tabs of document.querySelectorAll(".tabs"))
      if (tabs.scrollWidth > tabs.clientWidth) wrong.push("tabs are cut off: " + tabs.scrollWidth + " of " + tabs.clientWidth);
    if (innerWidth > 1000)
      for (const tabs of document.querySelectorAll(".tabs"))
        if (new Set([...tabs.querySelectorAll("li")].map((e) => e.offsetTop)).size > 1) wrong.push("tabs on two rows");
    for (const e of document.querySelectorAll("main :is(.notice, .panel, .warnline, form.form)")) {
      const above = e.previousElementSibling;
      if (!above || !shown(e) || !shown(above) || e.parentElement.matches(".cols")) continue;
      const box = e.getBoundingClientRect(), gap = box.top - above.getBoundingClientRect().bottom;
      const least = e.matches(".warnline") ? 0 : 8;
      if (gap < least && above.getBoundingClientRect().right > box.left) wrong.push(gap + " pixels between " + above.tagName + "." + above.className + " and " + e.className);
    }
    if (wrong.length) found[name] = [...new Set(wrong)];
  }
  return found;
})`

// Words are as long as their language has them, and zones have long names: no page gets
// wider than the screen for that, a short button stays on one line, the tabs of a page
// on one row of a wide screen and whole on a narrow one, and a box keeps away from what stands above it.
func TestNothingIsCramped(t *testing.T) {
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
			for _, wide := range []int64{1280, 320} {
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(wide, 900), chromedp.Navigate(server.URL+"/index.html")); err != nil {
					t.Fatal(err)
				}
				found, err := chromedp.Run(ctx, chromedp.Evaluate[map[string][]string](fmt.Sprintf("%s(%s)", cramped, list), chromedp.EvalAwaitPromise))
				if err != nil {
					t.Fatal(err)
				}
				for name, wrong := range found {
					t.Errorf("%s at %d pixels: %q", name, wide, wrong)
				}
			}
		})
	}
}
