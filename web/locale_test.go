package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// A person's language and zone are theirs: on pages, refusals and live parts, while
// the person beside them reads the same page in another.
func TestLanguageAndZone(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	var chosen []string
	for _, c := range []url.Values{{"language": {"tr"}}, {"zone": {"Asia/Kathmandu"}}} {
		c.Set("back", "/ops/servers")
		a := x.post("/theme", c).wants(t, 303)
		if a.Header.Get("Location") != "/ops/servers" || len(a.Cookies()) != 1 {
			t.Fatalf("%v: %v", c, a.Header)
		}
		chosen = append(chosen, a.Cookies()[0].Name+"="+a.Cookies()[0].Value)
	}
	mine := headers{"Cookie": strings.Join(chosen, "; ")}
	id := x.enqueue(note{Text: "one"})
	page := x.do("GET", "/ops/jobs/"+strconv.FormatInt(id, 10), nil, mine).wants(t, 200, `lang="tr"`, "Asia/Kathmandu", "kuyrukta", "+05:45").body
	if strings.Contains(page, ">enqueued<") || strings.Contains(page, " UTC") {
		t.Error("parts of the page are in English or UTC")
	}
	x.do("GET", "/ops/attempts?span=2y", nil, mine).wants(t, 400, `lang="tr"`, "span alanı: &#34;2y&#34; bilinmiyor")
	x.get("/jobs/"+strconv.FormatInt(id, 10)).wants(t, 200, `lang="en"`, ">enqueued<", " UTC")

	_, rest, _ := strings.Cut(page, `data-live="`)
	address, _, _ := strings.Cut(rest, `"`)
	turkish, res, err := x.dial(strings.ReplaceAll(address, "&amp;", "&"), http.Header{"Origin": {"http://" + x.host}, "Cookie": {mine["Cookie"]}})
	if err != nil {
		t.Fatal(err, res)
	}
	defer turkish.Close()
	english := x.openAsPage("/jobs/" + strconv.FormatInt(id, 10))
	x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {targetOf(id, store.Enqueued)}}).wants(t, 303)
	await(t, turkish, "the header in Turkish", "job-header", has("silinmiş"))
	await(t, english, "the header in English", "job-header", has("deleted"))
}

func TestTheBrowsersLanguage(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for header, want := range map[string]string{"": "en", "tr-TR,tr;q=0.9": "tr", "de-DE,de;q=0.9": "en", "xx;q=zz": "en"} {
		x.do("GET", "/servers", nil, headers{"Accept-Language": header}).wants(t, 200, `lang="`+want+`"`)
	}
	// A choice counts more, one that is no more counts as none.
	x.do("GET", "/servers", nil, headers{"Accept-Language": "tr", "Cookie": "tekrar_language=en"}).wants(t, 200, `lang="en"`)
	x.do("GET", "/servers", nil, headers{"Accept-Language": "tr", "Cookie": "tekrar_language=xx; tekrar_zone=Mars"}).wants(t, 200, `lang="tr"`, ">UTC<")
}
