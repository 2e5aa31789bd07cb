package web_test

import (
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

var demo = &web.Demo{Cards: []web.Card{{
	Key: "note", Title: "A note", Kind: "note", Story: "Files a note.", Expect: "Succeeds.",
	Count: 1, MaxCount: 100, Fields: []web.Field{{Name: "text", Label: "Text", Value: "hello"}},
	Item: func(v map[string]string, _ int) (jobs.Item, error) {
		return jobs.Item{Args: note{Text: v["text"]}}, nil
	},
}}}

func TestPages(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo, Environment: "testing"}})
	x.get("/").wants(t, 200, "testing", "Overview") // an empty database
	x.get("/jobs").wants(t, 200)
	x.work()
	id := strconv.FormatInt(x.failed("the bill"), 10)
	for path, text := range map[string]string{
		"/": id, "/jobs?state=failed": id, "/jobs/" + id: "cannot file the bill", "/attempts?span=1h": "Attempts",
		"/attempts?scale=share&span=24h": "Attempts", "/queues": "default", "/queues/default": "default",
		"/servers": "note", "/demo": "Files a note.", "/healthz": "ok", "/readyz": "ready",
		"/jobs?state=deleted": "", "/jobs?state=scheduled&queue=none&kind=nope": "",
	} {
		a := x.get(path).wants(t, 200, text)
		if policy := a.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'") {
			t.Errorf("%s: policy %q (SEC-11)", path, policy)
		}
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v (SEC-12)", path, a.Header)
		}
	}
	if s := x.log.String(); strings.Contains(s, "could not be read") || strings.Contains(s, "failed") {
		t.Errorf("log: %s", s)
	}
}

// LST-11, LST-13, LST-16: what a link may say wrongly is 400 with the known words,
// or 404; never 500, and never the unfiltered list.
func TestBadAddresses(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/jobs?state=faild":                       {400, "enqueued, scheduled, awaiting, processing"},
		"/jobs?colour=red":                        {400, "Known ones: state, queue, kind, cause, group, q, after"},
		"/jobs?sort=id;drop":                      {400, "Known ones"},
		"/jobs?page=0":                            {400, "Known ones"},
		"/jobs?size=1000000":                      {400, "Known ones"},
		"/jobs?after=abc":                         {400, "Field after"},
		"/jobs?after=" + strings.Repeat("9", 20):  {400, "Field after"},
		"/jobs?queue=%00":                         {400, "NUL"},
		"/jobs?queue=%ff":                         {400, "UTF-8"},
		"/jobs?kind=" + strings.Repeat("k", 3000): {200, ""},
		"/jobs?queue=%25_%5C%27%22":               {200, ""},
		"/jobs?queue=%5C":                         {200, ""},
		"/jobs?queue=o%27neil":                    {200, ""},
		"/jobs/0":                                 {404, ""},
		"/jobs/-1":                                {404, ""},
		"/jobs/abc":                               {404, ""},
		"/jobs/99999999":                          {404, "no such page or job"},
		"/jobs/99999999999999999999":              {404, ""},
		"/jobs/1?before=x":                        {400, "Field before"},
		"/attempts?span=2y":                       {400, "1h, 6h, 24h"},
		"/attempts?scale=log":                     {400, "count, share"},
		"/queues/none":                            {404, ""},
		"/queues/a/b":                             {404, ""},
		"/nothing":                                {404, ""},
		"/demo":                                   {404, ""},
		"/static/app.000000000000.js":             {404, ""},
		"/static/..%2f..%2fgo.mod":                {404, ""},
		"/?x=1":                                   {400, "takes none"},
		"/live?view=%2Fjobs":                      {400, ""},
		"/live?view=https%3A%2F%2Fevil":           {400, "Field view"},
		"/live?view=%2Fnothing":                   {404, ""},
		"/live?view=%2Fjobs%2F77":                 {404, ""},
		"/live?view=%2Fjobs%3Fstate%3Dx":          {400, "enqueued"},
		"/live?view=%2Fjobs&ids=1,x":              {400, "Field ids"},
	} {
		x.get(path).wants(t, want.status, want.text)
	}
	if s := x.log.String(); strings.Contains(s, "request failed") {
		t.Errorf("log: %s", s)
	}
}

// LST-10: a count on a tab is the length of its list.
func TestCountsEqualLists(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for i := range 7 {
		x.enqueue(note{Text: "n"}, jobs.Queue([]string{"a", "b"}[i%2]))
	}
	x.enqueue(note{Text: "later"}, jobs.In(time.Hour))
	for path, want := range map[string]int{"/jobs?state=enqueued": 7, "/jobs?state=enqueued&queue=a": 4, "/jobs?state=scheduled": 1} {
		a := x.get(path).wants(t, 200, "<b>"+strconv.Itoa(want)+"</b>")
		if n := strings.Count(a.body, `id="job-row-`); n != want {
			t.Errorf("%s: %d rows, want %d", path, n, want)
		}
	}
}

// SEC-09: a name of a queue leads to that very queue.
func TestOddQueueNames(t *testing.T) {
	t.Parallel()
	for how, config := range map[string]*fiber.Config{
		"own server": nil, "unescaping": {UnescapePath: true}, "strict": {StrictRouting: true, CaseSensitive: true},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			oddQueueNames(t, open(t, settings{prefix: "/ops/jobs", fiber: config, options: web.Options{Access: web.None()}}))
		})
	}
}

func oddQueueNames(t *testing.T, x *site) {
	x.do("GET", "/ops/jobs", nil, nil).wants(t, 200)
	x.do("GET", "/ops/jobs/", nil, nil).wants(t, 200)
	for _, name := range []string{
		"a/b", "a b", "a+b", "100%", "?x=1", "#h", "%2F", "é✓", "🙂", `q"'<&>`, "act", strings.Repeat("long", 50),
	} {
		id := strconv.FormatInt(x.enqueue(note{Text: "n"}, jobs.Queue(name)), 10)
		list := x.get("/jobs?queue="+url.QueryEscape(name)).wants(t, 200, `id="job-row-`+id+`"`)
		if n := strings.Count(list.body, `id="job-row-`); n != 1 {
			t.Errorf("%q: %d rows, want only its own", name, n)
		}
		if name != "act" {
			page := x.get("/queues/"+url.PathEscape(name)).wants(t, 200, `name="queue" value="`+html.EscapeString(name)+`"`)
			if n := strings.Count(page.body, `value="pause"`); n != 1 {
				t.Errorf("%q: %d queues on its page", name, n)
			}
		}
		x.post("/queues/act", url.Values{"do": {"pause"}, "queue": {name}}).wants(t, 303)
		queues, err := x.db.Queues(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queues {
			if (q.PausedAt != nil) != (q.Name == name) {
				t.Errorf("pausing %q: %q paused: %v", name, q.Name, q.PausedAt != nil)
			}
		}
		x.post("/queues/act", url.Values{"do": {"resume"}, "queue": {name}}).wants(t, 303)
	}
}

// SEC-01: what strangers write is text wherever it is shown.
func TestScriptStaysText(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for _, evil := range []string{`"><script>alert(1)</script>`, `' onmouseover='alert(1)`, `</script><script>alert(1)</script>`, `javascript:alert(1)`} {
		if _, err := x.client.EnqueueRaw(t.Context(), evil, []byte(`{"x":"</pre><script>alert(1)</script>"}`), jobs.Queue(evil)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/", "/jobs", "/jobs?queue=" + url.QueryEscape(evil), "/jobs?kind=" + url.QueryEscape(evil),
			"/attempts?queue=" + url.QueryEscape(evil), "/queues", "/jobs?state=" + url.QueryEscape(evil)} {
			body := x.get(path).body
			for _, bad := range []string{"<script>alert", "' onmouseover", `href="javascript`} {
				if strings.Contains(body, bad) {
					t.Errorf("%s: %q is in the page", path, bad)
				}
			}
		}
	}
	rows, _, err := x.db.Jobs(t.Context(), store.JobFilter{State: store.Enqueued})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range rows {
		if body := x.get("/jobs/"+strconv.FormatInt(j.ID, 10)).wants(t, 200).body; strings.Contains(body, "<script>alert") {
			t.Errorf("job %d: script in its page", j.ID)
		}
	}
}
