package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/web"
)

// Both pages move by themselves: marks, standing, and what is new, by hints and by
// polling alone.
func TestRecurringPagesMove(t *testing.T) {
	t.Parallel()
	for _, pollOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("pollOnly=%v", pollOnly), func(t *testing.T) {
			t.Parallel()
			x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}, client: jobs.Config{PollOnly: pollOnly}})
			x.work()
			x.schedule(jobs.RecurringSpec{ID: "a/b"})
			x.schedule(jobs.RecurringSpec{ID: "other"})
			row := views.RecurringRowID("a/b")
			list, page := x.openAsPage("/recurring"), x.openAsPage("/recurring/a%2Fb")
			await(t, list, "the row, as the page has it", row, has("it has not fired yet"))
			x.post("/recurring-act", url.Values{"do": {"run"}, "id": {"a/b"}}).wants(t, 303)
			await(t, list, "a mark", row, func(html string) bool {
				return strings.Contains(html, `<ol class="marks">`) && strings.Contains(html, "UTC: succeeded")
			})
			await(t, page, "the fire", "recurring-fires", has("succeeded"))
			x.post("/recurring-act", url.Values{"do": {"pause"}, "id": {"a/b"}}).wants(t, 303)
			await(t, list, "the pause", row, has("paused"))
			f := await(t, page, "the button", "recurring-actions", has(`value="resume"`))
			if f.Parts[0].ID != "recurring-header" || !strings.Contains(f.Parts[0].HTML, "paused") {
				t.Errorf("the button moved without the header: %+v", f.Parts)
			}
			x.schedule(jobs.RecurringSpec{ID: "third"})
			for deadline := time.Now().Add(20 * time.Second); ; {
				f, err := read(t, list)
				if err != nil || time.Now().After(deadline) {
					t.Fatalf("the third one is not news: %v", err)
				}
				if f.News == 1 {
					break
				}
			}
		})
	}
}

// Fires while a person has the pages open: marks join, the focus on one stays, the form
// that is being filled in is left alone.
func TestRecurringRowKeepsFocus(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.work()
	x.schedule(jobs.RecurringSpec{ID: "tick"})
	run := func() {
		x.post("/recurring-act", url.Values{"do": {"run"}, "id": {"tick"}}).wants(t, 303)
	}
	run()
	run()
	b := browse(t, "http://"+x.host+"/recurring")
	b.must(`window.kept = "yes", window.mark = document.querySelector(".marks a"), mark.focus(), window.at = mark.getAttribute("href"), document.activeElement === mark`)
	run()
	b.until(`document.querySelectorAll(".marks .st-succeeded").length === 3`)
	b.must(`kept === "yes" && document.activeElement === mark && mark.getAttribute("href") === at`)
	b.must(`document.querySelector(".r-act [value=pause]").click(), true`)
	b.until(`document.querySelector(".r-st .st").textContent.trim() === "paused" && document.querySelector("#notice").textContent.includes("Paused")`)
	b.must(`kept === "yes"`)

	if err := chromedp.Do(b.ctx, chromedp.Navigate("http://"+x.host+"/recurring/tick")); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector("#live").dataset.mode === "live"`)
	b.must(`document.querySelector("#edit summary").click(), document.querySelector("[name=spec]").focus(), document.execCommand("selectAll"), document.execCommand("insertText", false, "5 4 3"), true`)
	run()
	b.until(`document.querySelectorAll("#recurring-fires .st-succeeded").length === 4`)
	b.must(`document.querySelector("#edit").open && document.activeElement.name === "spec" && document.activeElement.value === "5 4 3"`)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.wrongs {
		t.Errorf("console: %s", text)
	}
}

// CRN-19: a fire that is farther away than a browser's timers reach is counted down,
// and nothing is fetched for it.
func TestCRN19FarFireInTheBrowser(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.schedule(jobs.RecurringSpec{ID: "far", Spec: "@every 24h", Start: time.Now().Add(40*24*time.Hour + 5*time.Hour)})
	b := browse(t, "http://"+x.host+"/recurring")
	b.must(`document.querySelector(".r-next time").textContent === "in 40 d"`)
	// The page's own countdown passes the edge of a day.
	b.until(`window.edge ||= new Date(Date.now() + 39 * 864e5 + 1000).toISOString(), window.far = document.querySelector(".r-next time"), far.dateTime = edge, far.textContent === "in 38 d"`)
	b.must(`performance.getEntriesByType("resource").every((e) => e.initiatorType !== "fetch") && performance.getEntriesByType("navigation").length === 1`)
}
