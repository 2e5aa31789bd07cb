package web_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/web"
)

// reader is a browser that keeps the cookie of saved views.
type reader struct {
	*site
	cookie string
}

func (b *reader) save(form url.Values) answer {
	b.t.Helper()
	h := headers{"Sec-Fetch-Site": "same-origin", "Cookie": b.cookie, "X-Role": "viewer"}
	if form.Get("view") == "" {
		form.Set("view", "save")
	}
	a := b.do("POST", "/ops/jobs/views", form, h)
	for _, c := range a.Cookies() {
		if c.Name == "tekrar_views" {
			if b.cookie = c.Name + "=" + c.Value; !c.Expires.IsZero() && c.Expires.Before(time.Now()) {
				b.cookie = ""
			}
			if !c.HttpOnly || c.Path != "/ops/" || len(c.Value) > 1536 {
				b.t.Errorf("cookie %+v", c)
			}
		}
	}
	return a
}

var savedLink = regexp.MustCompile(`<a href="([^"]+)"[^>]*>([^<]*)</a></li>`)

// saved are the names on the page with what they link to.
func (b *reader) saved() map[string]string {
	b.t.Helper()
	page := b.do("GET", "/ops/jobs?state=failed", nil, headers{"Cookie": b.cookie, "X-Role": "viewer"}).wants(b.t, 200)
	_, list, ok := strings.Cut(page.body, `<nav aria-label="Saved views">`)
	list, _, _ = strings.Cut(list, "</nav>")
	out := map[string]string{}
	for _, m := range savedLink.FindAllStringSubmatch(list, -1) {
		out[html.UnescapeString(m[2])] = html.UnescapeString(m[1])
	}
	if ok != (len(out) > 0) {
		b.t.Errorf("a list of saved views without a link: %s", list)
	}
	return out
}

// A viewer saves filters, opens exactly those, replaces and removes them; names and
// filters as odd as they come stay what they are.
func TestSavedViews(t *testing.T) {
	t.Parallel()
	b := &reader{site: open(t, settings{prefix: "/ops", options: web.Options{Access: byHeader()}})}
	if got := b.saved(); len(got) != 0 {
		t.Fatalf("at first: %v", got)
	}
	odd := `"><script>alert(1)</script>|!;=&+%`
	for name, form := range map[string]url.Values{
		"plain": {"state": {"failed"}}, odd: {"state": {"succeeded"}, "queue": {odd}, "kind": {"100% 🐢"}, "q": {`error:"a|b!c" -tag:x`}},
		"ayşe'nin": {}, "state in q": {"q": {"state:deleted kind:x"}},
	} {
		form.Set("name", "  "+name+" ")
		form.Set("back", "/ops/jobs?state=failed")
		if a := b.save(form).wants(t, 303); a.Header.Get("Location") != "/ops/jobs?state=failed" {
			t.Errorf("%s: to %s", name, a.Header.Get("Location"))
		}
	}
	want := map[string]string{
		"plain":    "/ops/jobs?state=failed",
		odd:        "/ops/jobs?state=succeeded&queue=" + url.QueryEscape(odd) + "&kind=" + url.QueryEscape("100% 🐢") + "&q=" + url.QueryEscape(`error:"a|b!c" -tag:x`),
		"ayşe'nin": "/ops/jobs?state=enqueued", "state in q": "/ops/jobs?state=deleted&q=kind%3Ax",
	}
	got := b.saved()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("saved %v\nwant %v", got, want)
	}
	for name, link := range got {
		page := b.do("GET", link, nil, headers{"Cookie": b.cookie, "X-Role": "viewer"}).wants(t, 200)
		if strings.Count(page.body, `aria-current="true"`) != 1 || strings.Contains(page.body, "<script>alert") {
			t.Errorf("%s is not the current one at %s", name, link)
		}
	}
	b.save(url.Values{"name": {"plain"}, "state": {"failed"}, "q": {"kind:note"}}).wants(t, 303)
	if got := b.saved(); got["plain"] != "/ops/jobs?state=failed&q=kind%3Anote" || len(got) != 4 {
		t.Errorf("replaced: %v", got)
	}
	for name := range want {
		b.save(url.Values{"view": {"remove"}, "name": {name}}).wants(t, 303)
	}
	if got := b.saved(); len(got) != 0 || b.cookie != "" {
		t.Errorf("removed: %v, cookie %q", got, b.cookie)
	}
}

// What is too much is refused with the field and the limit, and nothing is lost.
func TestSavedViewsHaveLimits(t *testing.T) {
	t.Parallel()
	b := &reader{site: open(t, settings{prefix: "/ops", options: web.Options{Access: byHeader()}})}
	for name, says := range map[string]string{
		"": "Field name: has 0 characters; it must have 1 to 40.", strings.Repeat("ü", 41): "Field name: has 41 characters; it must have 1 to 40.",
		"a\nb": "Field name: has a character that cannot be printed.", "a\u202eb": "Field name: has a character that cannot be printed.",
		"\xff": "Field name: is not valid UTF-8.",
	} {
		b.save(url.Values{"name": {name}}).wants(t, 400, says)
	}
	b.save(url.Values{"name": {"x"}, "state": {"lost"}}).wants(t, 400, "Field state: ")
	b.save(url.Values{"name": {"x"}, "q": {"size:7"}}).wants(t, 400, "Field q: ")
	b.save(url.Values{"name": {"x"}, "view": {"share"}}).wants(t, 400, "Field view: unknown", "Known ones: save, remove.")
	b.do("GET", "/ops/jobs/views", nil, headers{"X-Role": "viewer"}).wants(t, 405)
	b.do("POST", "/ops/jobs/views", url.Values{"view": {"save"}, "name": {"x"}}, headers{"Sec-Fetch-Site": "cross-site", "X-Role": "viewer"}).wants(t, 403)
	for i := range 12 {
		b.save(url.Values{"name": {fmt.Sprint("view ", i)}, "state": {"failed"}}).wants(t, 303)
	}
	b.save(url.Values{"name": {"one more"}}).wants(t, 400, "Field name: 12 views are saved already, which is the limit.")
	b.save(url.Values{"name": {"view 3"}, "q": {"kind:x"}}).wants(t, 303)
	b.save(url.Values{"name": {"view 4"}, "q": {strings.Repeat("%", 900)}}).wants(t, 400, "Field name: with this view the saved ones take 2,9", "the limit is 1,536.")
	if got := b.saved(); len(got) != 12 || got["view 4"] != "/ops/jobs?state=failed" {
		t.Errorf("saved: %v", got)
	}
}

// A cookie from elsewhere becomes links to lists or nothing.
func TestPlantedSavedViews(t *testing.T) {
	t.Parallel()
	b := &reader{site: open(t, settings{prefix: "/ops", options: web.Options{Access: byHeader()}})}
	good := "good!state=failed"
	for _, bad := range []string{"", "x", "x!", "!state=failed", "x!state=lost", "x!state=failed&size=1", "x!state=%zz", "%zz!state=failed", "%00!state=failed", "x!state=failed&q=%ff", strings.Repeat("x", 41) + "!state=failed", "//evil.example/!state=//evil.example/"} {
		b.cookie = "tekrar_views=" + bad + "|" + good + "|" + bad
		if got := b.saved(); len(got) != 1 || got["good"] != "/ops/jobs?state=failed" {
			t.Errorf("%q: %v", bad, got)
		}
	}
	b.cookie = "tekrar_views=" + strings.Repeat(good+"|", 40)
	b.do("GET", "/ops/jobs", nil, headers{"Cookie": b.cookie, "X-Role": "viewer"}).wants(t, 200)
}
