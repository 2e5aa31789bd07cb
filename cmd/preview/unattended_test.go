package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

// LIV-08: on a page that stands for ten minutes without news the times go on, and the
// exact instant stays in the title.
func TestLIV08TimesGoOn(t *testing.T) {
	t.Parallel()
	s, _ := open(t, processing)
	s.until(`live.dataset.mode === "live"`)
	// Times of an hour or a day ago would not be seen to move. The socket looks silent for
	// ten minutes then, and what the page fetches for that would set the clock right.
	eval[bool](s, `window.times = [...document.querySelectorAll("time[data-rel]")].filter((t) => /\d+ (s|min)\b/.test(t.textContent)),
		window.texts = times.map((t) => t.textContent), window.titles = times.map((t) => t.title), window.rows = [...document.querySelectorAll("tbody tr")],
		window.fetch = () => new Promise(() => {}), window.real = Date.now, Date.now = () => real() + 600000, true`)
	s.must(`times.length >= 50`)
	s.until(`times.every((t, i) => t.textContent !== texts[i])`)
	s.must(`times.every((t) => /\b1[0-9] min|\d+ (min|h)/.test(t.textContent) && !/\d s\b/.test(t.textContent))`)
	s.must(`times.every((t, i) => t.isConnected && t.title === titles[i] && t.title.endsWith(" UTC") && t.title.startsWith(t.dateTime.slice(0, 10)))`)
	s.must(`rows.every((r) => r.isConnected)`)
}

// LST-06: what "tick all" ticks are the rows on the screen at that moment: live news
// adds none and takes none away, and the next page begins without ticks.
func TestLST06TickAll(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	s.until(`live.dataset.mode === "live"`)
	const ticks = `[...document.querySelectorAll("input[name=target]:checked")].map((b) => b.value.split(":")[0]).join()`
	eval[bool](s, `document.querySelector("[data-all]").click(), window.at = `+ticks+`, true`)
	s.must(`at.split(",").length === 50 && document.querySelector("[data-ticked]").textContent === "50 ticked"`)
	left := fixtures.Row(3, views.Succeeded)
	left.Gone = true
	s.push(c, 7, row(t, left, 900103), row(t, fixtures.Row(70, views.Processing), 950000))
	s.until(`document.querySelector("#job-row-48213 .st-succeeded")`)
	s.must(ticks + ` === at && document.querySelector("[data-ticked]").textContent === "50 ticked"`)
	// What the person confirms is what they saw: the row that left says its new state.
	s.must(`document.querySelector("#job-row-48213 input").value === "48213:succeeded"`)

	if err := chromedp.Do(s.ctx, chromedp.Navigate(s.url+"?after=2")); err != nil {
		t.Fatal(err)
	}
	s.until(`live.dataset.mode`)
	s.must(`document.querySelectorAll("input[name=target]").length === 50 && ` + ticks + ` === "" && !document.querySelector("[data-all]").checked`)
}
