package web_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
	"github.com/tekrar/tekrar/web"
)

const aToken = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// holding is a request of a browser that has a token, and a page of that tag.
func holding(tag string) headers {
	h := headers{"Cookie": "tekrar_token=" + aToken}
	if tag != "" {
		h["If-None-Match"], h["Cache-Control"] = tag, "no-cache" // as fetch sends it
	}
	return h
}

// Every page that nothing happened to is answered with 304, no body and the same
// tag; the charts move on with each minute, so that is allowed for.
func TestUnchangedPagesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None(), Demo: demo}})
	id := x.enqueue(note{Text: "one"})
	for _, path := range []string{"/", "/jobs", "/jobs?state=failed&q=none", fmt.Sprintf("/jobs/%d", id), "/failures", "/attempts", "/queues", "/queues/default", "/recurring", "/recurring-new", "/servers", "/claims", "/calls", "/audit", "/demo"} {
		var again answer
		for range 3 {
			first := x.do("GET", "/ops"+path, nil, holding("")).wants(t, 200)
			tag := first.Header.Get("ETag")
			if !strings.HasPrefix(tag, `W/"`) || first.Header.Get("Cache-Control") != "no-store" || !strings.Contains(first.Header.Get("Vary"), "Cookie") {
				t.Fatalf("%s: headers %v", path, first.Header)
			}
			if head := x.do("HEAD", "/ops"+path, nil, holding("")); head.Header.Get("ETag") != tag && path != "/" && path != "/attempts" {
				t.Errorf("%s: HEAD has %s, GET %s", path, head.Header.Get("ETag"), tag)
			}
			if again = x.do("GET", "/ops"+path, nil, holding(`"other", `+tag)); again.StatusCode == 304 {
				if again.body != "" || again.Header.Get("ETag") != tag || again.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: 304 with %v %q", path, again.Header, again.body)
				}
				break
			}
		}
		if again.StatusCode != 304 {
			t.Errorf("%s: status %d, want 304", path, again.StatusCode)
		}
	}
}

// A page is sent in full when anything on it changed, and when its answer changes
// something in the browser.
func TestChangedPagesAreSentInFull(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{Text: "one"})
	tag := x.do("GET", "/jobs", nil, holding("")).Header.Get("ETag")
	full := func(what string, h headers) {
		t.Helper()
		a := x.do("GET", "/jobs", nil, h)
		if a.wants(t, 200, "</html>"); a.Header.Get("ETag") == "" {
			t.Errorf("%s: no ETag", what)
		}
	}
	if got := x.do("GET", "/jobs", nil, holding(tag)).StatusCode; got != 304 {
		t.Fatalf("unchanged: %d", got)
	}
	h := holding(tag)
	h["Cookie"] += "; tekrar_rows=dense"
	full("dense rows", h)
	full("a new token", headers{"If-None-Match": tag})
	full("any page, but a new token", headers{"If-None-Match": "*"})
	full("another tag", holding(`W/"0"`))
	done := x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {fmt.Sprintf("%d:enqueued", id)}, "back": {"/jobs"}})
	done.wants(t, 303)
	tag = x.do("GET", "/jobs", nil, holding("")).Header.Get("ETag")
	h = holding(tag)
	h["Cookie"] += "; " + strings.SplitN(done.Header.Get("Set-Cookie"), ";", 2)[0]
	full("a notice", h)
	full("a job less", holding(x.do("GET", "/jobs?state=enqueued", nil, holding("")).Header.Get("ETag")))
	x.enqueue(note{Text: "two"})
	full("a job more", holding(tag))
}

// Answers to actions and errors have no tag, whatever is asked.
func TestActionsAndErrorsHaveNoETag(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{Text: "one"})
	any := holding("*")
	any["Sec-Fetch-Site"] = "same-origin"
	target := url.Values{"do": {"delete"}, "target": {fmt.Sprintf("%d:enqueued", id)}, "back": {"/jobs"}}
	for path, form := range map[string]url.Values{"/jobs/confirm": target, "/theme": {"theme": {"dark"}}, "/jobs/7777777": nil, "/jobs?size=7": nil, "/nothing": nil, "/jobs/act": nil} {
		method := "GET"
		if form != nil {
			method = "POST"
		}
		a := x.do(method, path, form, any)
		if a.StatusCode == 304 || a.Header.Get("ETag") != "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d with %v", method, path, a.StatusCode, a.Header)
		}
	}
}

// Each page drawn for another browser four seconds later has the same tag unless it
// says something else; and every other change of its text is another tag.
func TestPageTagIsWhatIsSeen(t *testing.T) {
	t.Parallel()
	draw := func(p fixtures.Page, l views.Layout) []byte {
		var b bytes.Buffer
		if err := p.Draw(l).Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	same := 0
	for _, p := range fixtures.Pages() {
		l := fixtures.Layout(views.Links{})
		first := draw(p, l)
		tag := web.PageTag(first, l.Now)
		l.Token, l.Now = aToken, l.Now.Add(4*time.Second)
		if web.PageTag(draw(p, l), l.Now) == tag {
			same++
		} else {
			t.Logf("%s says something else after 4 s", p.Name)
		}
		for _, change := range [][2]string{{"</h1>", "!</h1>"}, {"</main>", "<p>new</p></main>"}, {`datetime="20`, `datetime="19`}, {`class="bar"`, `class="bar gone"`}} {
			other := bytes.Replace(first, []byte(change[0]), []byte(change[1]), 1)
			if changed := !bytes.Equal(other, first); changed && web.PageTag(other, fixtures.Now) == tag {
				t.Errorf("%s: %q for %q is not seen", p.Name, change[1], change[0])
			}
		}
	}
	if all := len(fixtures.Pages()); same < all*9/10 {
		t.Errorf("%d of %d pages keep their tag", same, all)
	}
	// What people wrote cannot hide behind our own words.
	l := fixtures.Layout(views.Links{})
	list := func(line string) []byte {
		row := fixtures.Row(0, views.Failed)
		row.ErrorLine = `<time data-rel="ago">` + line + `</time> data-token="` + line + `" name="token" value="` + line + `"`
		return draw(fixtures.Page{Draw: func(l views.Layout) templ.Component {
			return views.JobsPage(l, views.JobsProps{ListFilter: views.ListFilter{State: views.Failed}, Rows: []views.JobRowProps{row}})
		}}, l)
	}
	if web.PageTag(list("one"), l.Now) == web.PageTag(list("two"), l.Now) {
		t.Error("a text was taken for a clock")
	}
}
