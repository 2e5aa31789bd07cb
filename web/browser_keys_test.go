package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// press sends keys as a keyboard does.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// tabTo presses Tab until an element that matches has the focus, which must show.
func (b *browser) tabTo(css string) {
	b.t.Helper()
	for range 120 {
		b.press(kb.Tab)
		if b.eval(fmt.Sprintf("document.activeElement.matches(%q)", css)) {
			b.must(`getComputedStyle(document.activeElement).outlineStyle !== "none" && parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2`)
			return
		}
	}
	b.t.Fatalf("Tab never came to %s", css)
}

// The whole bulk flow without a mouse: tick two of three, requeue, confirm.
func TestBulkByKeyboardOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.work()
	one, two, three := x.failed("first"), x.failed("first"), x.failed("three")
	b := browse(t, "http://"+x.host+"/jobs?state=failed")
	b.tabTo(".skip")
	b.press(kb.Enter)
	b.tabTo("[data-all]") // behind the buttons it would be too late to learn of
	b.press(" ")
	b.must(`document.querySelectorAll("input[name=target]:checked").length === 3`)
	b.tabTo(fmt.Sprintf("#job-row-%d input", three))
	b.press(" ")
	b.until(`document.querySelector("[data-ticked]").textContent === "2 ticked"`)
	for range 20 {
		b.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
		if b.eval(`document.activeElement.matches("button[name=do][value=requeue]:not([formaction])")`) {
			break
		}
	}
	b.press(kb.Enter)
	b.until(`document.querySelector(".confirm h1")`)
	b.must(`document.querySelectorAll("input[name=target]").length === 2`)
	b.tabTo(".confirm button[value=once]")
	b.press(kb.Enter)
	b.until(`document.querySelector(".notice")`)
	for _, id := range []int64{one, two} {
		x.until("the job ran once more", func() bool { return x.state(id) == store.Succeeded })
	}
	if s := x.state(three); s != store.Failed {
		t.Errorf("the job that was not ticked is %s", s)
	}
	b.clean("bulk")
}

// Single keys, and that they can be switched off (WCAG 2.1.4).
func TestSingleKeys(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	x.enqueue(note{Text: "n"})
	b := browse(t, "http://"+x.host+"/ops/queues")
	const open = `document.querySelector("#keys").matches(":popover-open")`
	b.press("?")
	b.until(open + ` && document.activeElement.id === "find"`)
	b.press(kb.Escape)
	b.until("!" + open)
	b.press("p")
	b.until(`document.querySelector("#live").dataset.mode === "paused"`)
	b.press("p")
	b.until(`document.querySelector("#live").dataset.mode === "live"`)
	b.press("/")
	b.until(`location.pathname === "/ops/jobs" && document.activeElement.id === "q"`)
	b.until(`document.querySelector("#live").dataset.mode === "live"`)
	b.press("p", "?", "/")
	b.must(`document.activeElement.value === "p?/" && !` + open + ` && document.querySelector("#live").dataset.mode === "live"`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	b.press("/")
	b.until(`document.activeElement.id === "q"`)

	b.visit("http://" + x.host + "/ops/queues")
	b.until(`document.querySelector("#live").dataset.mode === "live"`)
	b.press("?")
	b.until(open)
	b.tabTo("button[name=keys][value=off]")
	b.press(kb.Enter)
	b.until(`document.body.dataset.keys === "off" && document.querySelector("#live").dataset.mode === "live"`)
	b.press("p", "?", "/")
	b.must(`location.pathname === "/ops/queues" && !` + open + ` && document.querySelector("#live").dataset.mode === "live"`)
	b.tabTo(".help") // what a key did, a button still does
	b.press(kb.Enter)
	b.until(open)
	b.tabTo("button[name=keys][value=on]")
	b.press(kb.Enter)
	b.until(`document.body.dataset.keys === undefined`)
	b.clean("keys")
}
