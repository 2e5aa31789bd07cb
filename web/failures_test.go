package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// A group's number is the length of its list; muting keeps it apart and out of the
// verdict; its buttons act on exactly the group.
func TestFailures(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.get("/failures").wants(t, 200, "No failure waits")
	x.work()
	for i := range 3 {
		x.failed(fmt.Sprintf("bill %d", i))
	}
	other := x.failed("a letter")
	page := x.get("/failures").wants(t, 200, "4 failed jobs in 2 groups", "permanent: no retry was allowed", "cannot file bill")
	x.get("/").wants(t, 200, "cannot file bill", "4 failed jobs wait for a decision")
	link := regexp.MustCompile(`href="(/jobs\?state=failed&amp;kind=note&amp;group=[0-9a-f]{16})"`).FindStringSubmatch(page.body)
	if link == nil {
		t.Fatalf("no link to a group in\n%s", clip(page.body))
	}
	address := strings.ReplaceAll(link[1], "&amp;", "&")
	list := x.get(address).wants(t, 200, "One group of failures", "<b>3</b>")
	if n := strings.Count(list.body, `id="job-row-`); n != 3 || strings.Contains(list.body, "letter") {
		t.Errorf("the group's list has %d rows", n)
	}
	u, _ := url.Parse(address)
	group := u.Query().Get("group")
	form := url.Values{"kind": {"note"}, "group": {group}, "do": {"mute"}, "back": {"/failures"}}
	before := x.picture()
	x.post("/failures/confirm", form).wants(t, 200, "Mute this group of 3 failed jobs?")
	if after := x.picture(); after != before {
		t.Errorf("asking changed something: %s, then %s", before, after)
	}
	x.post("/failures/act", form).wants(t, 303)
	x.get("/failures").wants(t, 200, "1 failed job in 1 group", "Muted", "muted by local")
	x.get("/").wants(t, 200, "1 failed job waits for a decision", "<span class=\"t-v\">4</span>")
	form.Set("do", "unmute")
	x.post("/failures/act", form).wants(t, 303)
	x.get("/").wants(t, 200, "4 failed jobs wait")
	bulk := url.Values{"state": {"failed"}, "kind": {"note"}, "group": {group}, "do": {"delete"}, "back": {"/failures"}}
	x.post("/bulk/confirm", bulk).wants(t, 200, "Delete all 3 jobs?", `name="expect" value="3"`)
	x.startBulk(bulk, "delete", 3)
	if got := x.state(other); got != store.Failed {
		t.Errorf("the other group's job is %s", got)
	}
	x.get("/failures").wants(t, 200, "1 failed job in 1 group")
	for _, c := range []struct {
		path string
		form url.Values
		text string
	}{
		{"/failures/act", url.Values{"do": {"drop"}}, "mute, unmute"},
		{"/failures/act", url.Values{"do": {"mute"}}, "Field kind"},
		{"/failures/act", url.Values{"do": {"mute"}, "kind": {"note"}, "group": {"x"}}, "Field group"},
	} {
		x.post(c.path, c.form).wants(t, 400, c.text)
	}
	x.post("/failures/confirm", url.Values{"do": {"mute"}, "kind": {"note"}, "group": {store.GroupName(1)}}).wants(t, 404)
	for path, text := range map[string]string{
		"/jobs?group=" + group:                              "Field group: goes with state=failed",
		"/jobs?state=failed&group=" + group:                 "Field group",
		"/jobs?state=failed&kind=note&group=1":              "Field group",
		"/jobs?state=succeeded&kind=note&group=" + group:    "Field group",
		"/jobs?q=colour:red":                                "Known ones: id, kind, queue, state, attempt, outcome, error, tag, server, version, key, created, finished, args.path",
		"/jobs?q=" + url.QueryEscape("a\x00b"):              "NUL",
		"/jobs?q=" + strings.Repeat("x", 5000):              "the limit is 1000",
		"/jobs/export?format=xml":                           "csv, ndjson",
		"/jobs/export":                                      "Field format",
		"/jobs/export?format=csv&q=colour:red":              "Known ones",
		"/audit?before=x":                                   "Field before",
		"/audit?colour=red":                                 "Known ones: actor, action, before",
		"/live?view=" + url.QueryEscape("/jobs?q=colour:x"): "Known ones",
	} {
		x.get(path).wants(t, 400, text)
	}
}

// startBulk presses the button of a preview and waits until the operation is done.
func (x *site) startBulk(list url.Values, do string, n int64) (page string) {
	x.t.Helper()
	confirm := x.post("/bulk/confirm", list).wants(x.t, 200)
	form := url.Values{}
	for k, v := range list {
		form[k] = v
	}
	seen := regexp.MustCompile(`name="seen" value="([^"]+)"`).FindStringSubmatch(confirm.body)
	if seen == nil {
		x.t.Fatalf("no seen in\n%s", clip(confirm.body))
	}
	form["do"], form["expect"], form["typed"], form["seen"] = []string{do}, []string{strconv.FormatInt(n, 10)}, []string{strconv.FormatInt(n, 10)}, seen[1:]
	to := x.post("/bulk/start", form).wants(x.t, 303).Header.Get("Location")
	id, err := strconv.ParseInt(strings.TrimPrefix(to, x.prefix+"/bulk/"), 10, 64)
	if err != nil {
		x.t.Fatalf("sent to %q", to)
	}
	x.until("the operation is done", func() bool {
		b, err := x.db.Bulk(x.t.Context(), id)
		return err == nil && b.State == store.BulkDone
	})
	return to
}

// LST-03, LST-08: all matching jobs of a filter, with the count typed from a hundred
// on; the deletion is audited with its filter and can be undone.
func TestAllMatching_LST03_LST08(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	var items []jobs.Item
	for i := range 290 {
		items = append(items, jobs.Item{Args: note{Text: "n"}, Options: []jobs.EnqueueOption{jobs.Queue(map[bool]string{true: "a", false: "b"}[i < 250])}})
	}
	if _, err := x.client.EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	list := url.Values{"state": {"enqueued"}, "queue": {"a"}, "do": {"delete"}, "back": {"/jobs?state=enqueued&queue=a"}}
	before := x.picture()
	preview := x.post("/bulk/confirm", list).wants(t, 200, "Delete all 250 jobs?", "Type 250 to go on", "in queue “a”")
	if n := strings.Count(preview.body, `id="job-row-`); n != 10 {
		t.Errorf("%d rows as a sample", n)
	}
	start := url.Values{"state": {"enqueued"}, "queue": {"a"}, "do": {"delete"}, "seen": {"2030-01-01T00:00:00Z"}, "back": {"/jobs"}}
	for _, c := range []struct{ expect, typed, text string }{
		{"250", "", "Type the number of jobs exactly"}, {"250", "25", "Nothing was changed"}, {"1", "", "The list has grown"},
		{"0", "0", "Field expect"}, {"x", "x", "Field expect"},
	} {
		start["expect"], start["typed"] = []string{c.expect}, []string{c.typed}
		x.post("/bulk/start", start).wants(t, 400, c.text)
	}
	x.post("/bulk/confirm", url.Values{"do": {"requeue"}, "state": {"enqueued"}}).wants(t, 400, "Field state")
	x.post("/bulk/confirm", url.Values{"do": {"drop"}}).wants(t, 400, "Known ones")
	x.post("/bulk/confirm", url.Values{"do": {"delete"}, "state": {"enqueued"}, "queue": {"nobody"}}).wants(t, 200, "Nothing to delete")
	if after := x.picture(); after != before {
		t.Errorf("refused forms changed something: %s, then %s", before, after)
	}
	page := x.startBulk(list, "delete", 250)
	x.get(page).wants(t, 200, "250 jobs deleted", "Undo: restore 250 jobs")
	x.get("/jobs?state=enqueued").wants(t, 200, "<b>40</b>")
	x.get("/audit").wants(t, 200, "delete all", "enqueued jobs in queue “a”", "250", `value="undo"`)
	x.get("/audit?actor=nobody").wants(t, 200, "No action matches")
	id := strings.TrimPrefix(page, "/bulk/")
	x.post("/bulk/act", url.Values{"do": {"stop"}, "id": {id}}).wants(t, 409)
	undo := x.post("/bulk/act", url.Values{"do": {"undo"}, "id": {id}}).wants(t, 303).Header.Get("Location")
	x.until("all are back", func() bool {
		c, err := x.db.CountJobs(t.Context(), store.JobFilter{State: store.Enqueued, Queue: "a"})
		return err == nil && c.N == 250
	})
	x.get(page).wants(t, 200, "It was undone")
	x.until("the undo says so", func() bool { return strings.Contains(x.get(undo).body, "250 jobs restored") })
	x.post("/bulk/act", url.Values{"do": {"undo"}, "id": {id}}).wants(t, 409, "Nothing was changed")
	x.post("/bulk/act", url.Values{"do": {"undo"}, "id": {"x"}}).wants(t, 400, "Field id")
	x.get("/bulk/999").wants(t, 404)
	x.get("/bulk/x").wants(t, 404)
	if err := x.db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A single deletion is undone from the audit, while its job is still deleted.
func TestAuditUndo(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.get("/audit").wants(t, 200, "Nobody has changed anything yet")
	id := x.enqueue(note{})
	x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {targetOf(id, store.Enqueued)}}).wants(t, 303)
	x.get("/audit").wants(t, 200, "enqueued → deleted", `value="`+targetOf(id, store.Deleted)+`"`)
	x.post("/jobs/act", url.Values{"do": {"restore"}, "target": {targetOf(id, store.Deleted)}, "back": {"/audit"}}).wants(t, 303)
	if body := x.get("/audit?action=delete").wants(t, 200).body; strings.Contains(body, `name="do"`) {
		t.Error("a restored job is offered for undo")
	}
}
