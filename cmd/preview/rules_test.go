package main

import (
	"fmt"
	"testing"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
)

// rule is something of the person's that no update may take away.
type rule struct {
	name string
	page func(views.Layout) templ.Component
	// do is done before the updates, kept has to hold after each. %d in seen is the
	// number of the update that has to be on the page by then; no seen: updates wait.
	do, kept, seen string
	parts          func(t *testing.T, n int) []part
}

func jobAt(n int, tab string) views.JobProps {
	p := fixtures.Job(views.Failed)
	p.Version, p.EffectsVersion = int64(900000+n), fixtures.Now.UnixMilli()+int64(n)
	p.Tab, p.Claims, p.Kind = tab, fixtures.Claims()[:2], fmt.Sprintf("moved-%d", n)
	return p
}

func job(tab string) func(views.Layout) templ.Component {
	return func(l views.Layout) templ.Component { return views.JobPage(l, jobAt(0, tab)) }
}

// rowParts change every row that the rules touch, each time to another queue.
func rowParts(t *testing.T, n int) []part {
	var out []part
	for i := range 4 {
		r := fixtures.Row(i, views.Processing)
		r.Queue, r.Attempt = fmt.Sprintf("moved-%d", n), n
		out = append(out, row(t, r, int64(900000+n)))
	}
	return out
}

func jobParts(tab string) func(*testing.T, int) []part {
	return func(t *testing.T, n int) []part {
		l, p := fixtures.Layout(views.Links{}), jobAt(n, tab)
		l.Token = ""
		return []part{
			{"job-header", p.Version, html(t, views.JobHeader(l, p))}, {"job-actions", p.Version, html(t, views.JobActions(l, p))},
			{"job-timeline", p.Version, html(t, views.Timeline(l, p))}, {"job-error", p.Version, html(t, views.JobError(l, p))},
			{"job-tabs", p.EffectsVersion, html(t, views.JobPanelTabs(l, p))}, {"job-claims", p.EffectsVersion, html(t, views.JobClaims(l, p))},
		}
	}
}

const (
	rowMoved = `document.querySelector("#job-row-48211 .c-queue").textContent.trim() === "moved-%d"`
	jobMoved = `document.querySelector("#job-header").textContent.includes("moved-%d")`
)

var rules = []rule{
	{"focus", processing, `window.el = document.querySelector("#job-row-48211 th a"); el.focus()`,
		`document.activeElement === el && el.isConnected`, rowMoved, rowParts},
	{"ticks", processing, `for (const n of [48210, 48212]) document.querySelector("#job-row-" + n + " input").click()`,
		`[...document.querySelectorAll("input[name=target]:checked")].map((b) => b.closest("tr").id).join() === "job-row-48210,job-row-48212" && document.querySelector("[data-ticked]").textContent === "2 ticked"`, rowMoved, rowParts},
	{"scroll position", processing, `scrollTo(0, 417)`, `scrollY === 417`, rowMoved, rowParts},
	{"typed text", processing, `window.el = document.querySelector("#q"); el.focus(); document.execCommand("insertText", false, "error:half a na"); el.setSelectionRange(3, 7)`,
		`document.activeElement === el && el.value === "error:half a na" && el.selectionStart === 3 && el.selectionEnd === 7`, rowMoved, rowParts},
	{"open details", job(""), `stack.querySelector("summary").click()`, `stack.open`, jobMoved, jobParts("")},
	{"chosen tab", job("claims"), `window.url = location.href`,
		`document.querySelector("#job-tabs [aria-current]").textContent.includes("Claims") && location.href === url && document.querySelector("#job-claims").offsetHeight > 0`, jobMoved, jobParts("claims")},
	{"selection", processing, `getSelection().selectAllChildren(document.querySelector("#job-row-48211 th")); window.text = getSelection().toString()`,
		`getSelection().toString() === text && text.length > 4`, "", rowParts},
	{"open confirmation", func(l views.Layout) templ.Component {
		return views.ConfirmPage(l, views.ConfirmProps{Do: "delete", Back: "/page", Jobs: fixtures.Rows(3, views.Processing)})
	}, `window.el = document.querySelector(".buttons button"); el.focus()`,
		`document.activeElement === el && document.querySelectorAll("input[name=target]").length === 3 && [...document.querySelectorAll("input[name=target]")].every((i) => i.value.endsWith(":processing")) && document.querySelector("h1").textContent.includes("3")`, rowMoved, rowParts},
}

// LIV: one subtest a rule, twenty updates each.
func TestLIVTwentyUpdatesTakeNothingAway(t *testing.T) {
	t.Parallel()
	s, c := open(t, processing)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			s.t = t
			s.show(r.page)
			if err := chromedp.Do(s.ctx, chromedp.Navigate(s.url)); err != nil {
				t.Fatal(err)
			}
			c = s.accept()
			s.until(`live.dataset.mode === "live"`)
			eval[bool](s, "("+"() => { "+r.do+"; return true; })()")
			s.must(r.kept)
			for n := 1; n <= 20; n++ {
				s.push(c, n, r.parts(t, n)...)
				s.until(fmt.Sprintf(`!news.hidden && news.textContent.trim().startsWith("%d new")`, n)) // the frame has arrived
				if r.seen != "" {
					s.until(fmt.Sprintf(r.seen, n))
				} else {
					eval[bool](s, frames)
				}
				s.must(r.kept)
				if t.Failed() {
					t.Fatalf("after update %d", n)
				}
			}
		})
	}
}
