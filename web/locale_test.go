package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
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

// LIV-10: whatever a browser asks for, the page comes.
func TestTheBrowsersLanguage(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for header, want := range map[string]string{
		"": "en", "tr-TR,tr;q=0.9": "tr", "de-DE,de;q=0.9": "en", "xx-bad": "en", "xx;q=zz": "en",
		strings.Repeat("qq-QQ,", 1700) + "tr": "", "\xff\xfe": "en", "tr;q=0": "",
	} {
		x.do("GET", "/servers", nil, headers{"Accept-Language": header}).wants(t, 200, `lang="`+want)
	}
	// A choice counts more, one that is no more counts as none.
	x.do("GET", "/servers", nil, headers{"Accept-Language": "tr", "Cookie": "tekrar_language=en"}).wants(t, 200, `lang="en"`)
	x.do("GET", "/servers", nil, headers{"Accept-Language": "tr", "Cookie": "tekrar_language=xx; tekrar_zone=Mars"}).wants(t, 200, `lang="tr"`, ">UTC<")
}

// LIV-10: the language of who presses the button changes nothing in the job: names
// with i and I keep theirs, and the history reads as it does for everybody.
func TestLIV10ALanguageStaysOutOfJobs(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}, client: jobs.Config{Queues: map[string]int{"TITLE-ILIK-iıİI": 1}}})
	x.work()
	type kept struct{ Queue, Kind, Args, Reasons string }
	of := func(id int64) (k kept) {
		t.Helper()
		if err := x.db.Get(&k, `select j.queue, j.kind, j.args::text as args, (select string_agg(coalesce(h.reason, ''), '|' order by h.id) from tekrar.history h where h.job_id = j.id) as reasons from tekrar.jobs j where j.id = $1`, id); err != nil {
			t.Fatal(err)
		}
		return k
	}
	var was []kept
	for _, language := range []string{"en", "tr"} {
		id := x.enqueue(note{Text: "first", Fail: true}, jobs.Queue("TITLE-ILIK-iıİI"))
		x.until("it failed", func() bool { return x.state(id) == store.Failed })
		a := x.do("POST", "/jobs/act", url.Values{"do": {"once"}, "target": {targetOf(id, store.Failed)}}, headers{"Accept-Language": language, "Sec-Fetch-Site": "same-origin"})
		a.wants(t, 303)
		x.until("it ran once more", func() bool { return x.state(id) == store.Succeeded })
		was = append(was, of(id))
	}
	if was[0] != was[1] || was[0].Queue != "TITLE-ILIK-iıİI" || was[0].Kind != "note" {
		t.Errorf("%+v", was)
	}
	x.do("GET", "/jobs?state=succeeded&kind=note&queue="+url.QueryEscape("TITLE-ILIK-iıİI"), nil, headers{"Accept-Language": "tr"}).wants(t, 200, `id="job-row-`)
	x.do("GET", "/jobs?state=succeeded&kind=NOTE", nil, headers{"Accept-Language": "tr"}).wants(t, 200)
}

// What packages jobs and schedule refuse is said in the reader's language, with what
// it is put together from.
func TestRefusedInputInTurkish(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	turkish := headers{"Accept-Language": "tr", "Sec-Fetch-Site": "same-origin"}
	for _, c := range []struct{ field, value, text string }{
		{"id", strings.Repeat("i", 1201), "1.201 karakter; en çok 200 olabilir"}, {"kind", "a\tb", "1 numaralı baytta U+0009 denetim karakteri var"},
		{"spec", "0 0 30 2 *", "hiç çalışmaz; şubat ayında 30. gün yok"}, {"spec", "61 * * * *", "dakika &#34;61&#34;: &#34;61&#34;, 0–59 arasında bir sayı değil"},
		{"args", `{"a" 1}`, "geçerli JSON değil; 5 numaralı baytta : bekleniyordu"}, {"args", `{"a":`, "değer gelmesi gereken yerde bitiyor"},
	} {
		form := url.Values{"new": {"1"}, "do": {"save"}, "id": {"i"}, "kind": {"k"}, "spec": {"5 4 * * *"}, "zone": {"UTC"}, "misfire": {"skip"}, "overlap": {"skip"}, "args": {"{}"}}
		form.Set(c.field, c.value)
		if a := x.do("POST", "/recurring-save", form, turkish); a.StatusCode != 400 || !strings.Contains(a.body, c.text) {
			_, said, _ := strings.Cut(a.body, `id="err-`)
			t.Errorf("%s %.40q: status %d, %s", c.field, c.value, a.StatusCode, clip(said))
		}
	}
	form := url.Values{"card": {"note"}, "count": {"1"}, "delay": {"999999h"}}
	if a := x.do("POST", "/demo/enqueue", form, turkish); a.StatusCode != 400 || strings.Contains(a.body, "outside") {
		t.Errorf("status %d: %s", a.StatusCode, clip(a.body))
	}
}
