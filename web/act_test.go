package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

func targetOf(id int64, s store.State) string { return fmt.Sprintf("%d:%s", id, s) }

func TestActions(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.work()
	id := x.failed("a")
	act := func(do string, seen store.State) answer {
		return x.post("/jobs/act", url.Values{"do": {do}, "target": {targetOf(id, seen)}, "back": {"/jobs/" + strconv.FormatInt(id, 10)}})
	}
	a := act("once", store.Failed).wants(t, 303)
	if to := a.Header.Get("Location"); to != "/jobs/"+strconv.FormatInt(id, 10) {
		t.Errorf("sent to %q", to)
	}
	x.until("second attempt failed", func() bool {
		d, err := x.db.Job(t.Context(), id, 0, 0)
		return err == nil && d.State == store.Failed && d.Attempt == 2
	})
	// The notice is said once, on the page behind the redirect.
	cookie := a.Cookies()[len(a.Cookies())-1]
	x.do("GET", "/jobs", nil, headers{"Cookie": cookie.Name + "=" + cookie.Value}).wants(t, 200, "1 job requeued.")
	act("delete", store.Failed).wants(t, 303)
	if got := x.state(id); got != store.Deleted {
		t.Errorf("job is %s", got)
	}
	// A second press of the same button, and a button of an old screen.
	act("delete", store.Failed).wants(t, 409, "moved meanwhile", "Restore")
	act("once", store.Failed).wants(t, 409)
	act("restore", store.Deleted).wants(t, 303)
	x.post("/jobs/act", url.Values{"do": {"once"}, "target": {"999999:failed"}}).wants(t, 404)
	d, err := x.db.Job(t.Context(), id, 0, 0)
	if err != nil || !slices.ContainsFunc(d.History, func(h store.HistoryRow) bool { return h.Actor == "local" }) {
		t.Errorf("history names nobody: %v", err)
	}
}

// LST-05, LST-08: nothing ticked is said, and deleting asks first, all without script.
func TestConfirm(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	one, two := x.enqueue(note{}), x.enqueue(note{}, jobs.In(time.Hour))
	before := x.picture()
	x.post("/jobs/confirm", url.Values{"do": {"delete"}, "back": {"/jobs?state=enqueued"}}).wants(t, 200, "Nothing", `href="/jobs?state=enqueued"`)
	x.post("/jobs/act", url.Values{"do": {"delete"}}).wants(t, 303)
	a := x.post("/jobs/confirm", url.Values{"do": {"requeue"}, "back": {"//evil.example"}, "target": {
		targetOf(one, store.Enqueued), targetOf(two, store.Scheduled), targetOf(two, store.Scheduled), "424242:failed", targetOf(one, store.Failed)}})
	a.wants(t, 200, `value="`+targetOf(two, store.Scheduled)+`"`, "cannot be done while it is enqueued", "no longer exists")
	if strings.Contains(a.body, "evil") || strings.Count(a.body, `name="target"`) != 1 {
		t.Errorf("foreign address or wrong targets in\n%s", clip(a.body))
	}
	x.post("/jobs/confirm", url.Values{"do": {"delete"}, "target": {targetOf(one, store.Failed)}}).wants(t, 200, "is enqueued now")
	if after := x.picture(); after != before {
		t.Errorf("asking changed something: %s, then %s", before, after)
	}
	form := url.Values{"do": {"delete"}, "back": {"/jobs"}, "target": {targetOf(one, store.Enqueued), targetOf(two, store.Enqueued), "424242:failed"}}
	done := x.post("/jobs/act", form).wants(t, 303)
	cookie := done.Cookies()[len(done.Cookies())-1]
	x.do("GET", "/jobs", nil, headers{"Cookie": cookie.Name + "=" + cookie.Value}).
		wants(t, 200, "1 job deleted.", `value="`+targetOf(one, store.Deleted)+`"`, ">Undo</button>", "1 job moved meanwhile", "1 job no longer there")
}

func TestBadForms(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	before := x.picture()
	var many []string
	for i := range 501 {
		many = append(many, targetOf(int64(i+1), store.Failed))
	}
	for _, c := range []struct {
		path string
		form url.Values
		text string
	}{
		{"/jobs/act", url.Values{"do": {"drop"}}, "Known ones"},
		{"/jobs/act", url.Values{"do": {"once"}, "target": {"7"}}, "Field target"},
		{"/jobs/act", url.Values{"do": {"once"}, "target": {"7:late"}}, "Field target"},
		{"/jobs/act", url.Values{"do": {"once"}, "target": {"x:failed"}}, "Field target"},
		{"/jobs/act", url.Values{"do": {"once"}, "target": {"99999999999999999999:failed"}}, "Field target"},
		{"/jobs/act", url.Values{"do": {"once"}, "target": many}, "the limit is 500"},
		{"/jobs/confirm", url.Values{"do": {"once"}}, "requeue delete restore cancel"},
		{"/queues/act", url.Values{"do": {"stop"}, "queue": {"a"}}, "pause, resume"},
		{"/queues/act", url.Values{"do": {"pause"}}, "Field queue"},
		{"/queues/act", url.Values{"do": {"pause"}, "queue": {"a\x00b"}}, "NUL"},
		{"/queues/act", url.Values{"do": {"pause"}, "queue": {strings.Repeat("q", 300)}}, "200"},
		{"/demo/enqueue", url.Values{"card": {"none"}}, "Field card"},
		{"/demo/enqueue", url.Values{"card": {"note"}, "count": {"0"}}, "from 1 to 100"},
		{"/demo/enqueue", url.Values{"card": {"note"}, "count": {"1e3"}, "arg.text": {"kept text"}}, "kept text"},
		{"/demo/enqueue", url.Values{"card": {"note"}, "delay": {"-1"}}, "0 to 86400"},
		{"/demo/enqueue", url.Values{"card": {"note"}, "delay": {"NaN"}}, "0 to 86400"},
		{"/demo/enqueue", url.Values{"card": {"note"}, "arg.text": {"\xff"}}, "UTF-8"},
		{"/theme", url.Values{"theme": {"pink"}}, "light, dark, auto"},
		{"/theme", url.Values{"rows": {"1px"}}, "Field rows"},
		{"/theme", url.Values{"keys": {"on\x00"}}, "Field keys"},
		{"/theme", url.Values{"language": {"xx"}}, "Known ones: en, tr"},
		{"/theme", url.Values{"zone": {"Mars/Base"}}, "such as Europe/Istanbul"},
		{"/theme", url.Values{"zone": {"Local"}}, "Field zone"},
		{"/theme", url.Values{"zone": {strings.Repeat("../", 400)}}, "Field zone"},
		{"/theme", url.Values{}, "theme, rows, keys, language, zone"},
	} {
		x.post(c.path, c.form).wants(t, 400, c.text)
	}
	if after := x.picture(); after != before {
		t.Errorf("bad forms changed something: %s, then %s", before, after)
	}
	if s := x.log.String(); strings.Contains(s, "request failed") {
		t.Errorf("log: %s", s)
	}
}

// LST-19: a chosen time is kept. The burst's jobs are counted at its card.
func TestDemoEnqueue(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	a := x.post("/demo/enqueue", url.Values{"card": {"note"}, "count": {"100"}, "delay": {"3600"}, "arg.text": {"x"}}).wants(t, 303)
	cookie := a.Cookies()[0]
	x.do("GET", a.Header.Get("Location"), nil, headers{"Cookie": cookie.Name + "=" + cookie.Value}).wants(t, 200, "100 jobs")
	rows, _, err := x.db.Jobs(t.Context(), store.JobFilter{State: store.Scheduled, Limit: 500})
	if err != nil || len(rows) != 100 {
		t.Fatalf("%d scheduled, %v", len(rows), err)
	}
	if wait := time.Until(*rows[0].RunAt); wait < 59*time.Minute || wait > time.Hour {
		t.Errorf("due in %s, want an hour", wait)
	}
}

// SEC-13: an action never sends the browser elsewhere.
func TestRedirectsStayHere(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	root := open(t, settings{options: web.Options{Access: web.None()}})
	for _, back := range []string{
		"//evil.example", `\\evil.example`, `/\evil.example`, "https:evil", "https://evil.example/ops/jobs", "/ops/../x",
		"/other", "/opsevil", "javascript:alert(1)", "/ops/\r\nSet-Cookie: a=b", "ops/jobs", "", "//", "/ops/%0d%0a/../..", "http:///evil",
	} {
		a := x.post("/theme", url.Values{"theme": {"dark"}, "back": {back}}).wants(t, 303)
		if to := a.Header.Get("Location"); to != "/ops/" && !regexp.MustCompile(`^/ops/[^/\\]`).MatchString(to) {
			t.Errorf("back %q: sent to %q", back, to)
		}
		a = root.post("/theme", url.Values{"theme": {"dark"}, "back": {back}}).wants(t, 303)
		if to := a.Header.Get("Location"); to != "/" && !regexp.MustCompile(`^/[^/\\]`).MatchString(to) {
			t.Errorf("back %q at the root: sent to %q", back, to)
		}
	}
	for _, back := range []string{"/ops/jobs?state=failed&queue=a%2Fb", "/ops/queues/a%2Fb%5C", "/ops/"} {
		a := x.post("/theme", url.Values{"theme": {"dark"}, "back": {back}}).wants(t, 303)
		if to := a.Header.Get("Location"); to != back {
			t.Errorf("back %q: sent to %q", back, to)
		}
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for text, ids := range map[string][]int64{"": nil, "7": {7}, "7-9,12": {7, 8, 9, 12}, "1-2,4-5": {1, 2, 4, 5}, "9,7": {9, 7}} {
		if got := web.Ranges(ids); got != text {
			t.Errorf("%v: %q, want %q", ids, got, text)
		}
		if got := web.Expand(text); len(got) != len(ids) {
			t.Errorf("%q: %v, want %v", text, got, ids)
		}
	}
	if got := web.Expand("1-9223372036854775807,x"); len(got) != 10000 {
		t.Errorf("a planted range expands to %d", len(got))
	}
}
