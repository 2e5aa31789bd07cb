package web_test

import (
	"encoding/csv"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// LST-13, SCL-06: the query box finds literally, by id in any state, and by argument.
func TestSearchBox_LST13_SCL06(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	ids := map[string]string{}
	for _, text := range []string{"50%", "a_b", `back\slash`, "o'neil", `say "hi"`, "🐢", "42"} {
		ids[text] = strconv.FormatInt(x.enqueue(note{Text: text}), 10)
	}
	x.work()
	x.until("all are done", func() bool { return strings.Contains(x.get("/jobs?state=succeeded").body, "<b>7</b>") })
	failed := strconv.FormatInt(x.failed("boom"), 10)
	find := func(state, q string, want ...string) {
		t.Helper()
		a := x.get("/jobs?state="+state+"&q="+url.QueryEscape(q)).wants(t, 200)
		if n := strings.Count(a.body, `id="job-row-`); n != len(want) {
			t.Errorf("%s: %d rows, want %d\n%s", q, n, len(want), clip(a.body))
		}
		for _, id := range want {
			if !strings.Contains(a.body, `id="job-row-`+id+`"`) {
				t.Errorf("%s: job %s is missing", q, id)
			}
		}
	}
	find("succeeded", "%", ids["50%"])
	find("succeeded", "_", ids["a_b"])
	find("succeeded", `\`, ids[`back\slash`])
	find("succeeded", `'`, ids["o'neil"])
	find("succeeded", `"`, ids[`say "hi"`])
	find("succeeded", "🐢", ids["🐢"])
	find("succeeded", "args.text:42", ids["42"])
	find("succeeded", "42", ids["42"])
	find("succeeded", "kind:note -args.text:42 -🐢 -%", ids["a_b"], ids[`back\slash`], ids["o'neil"], ids[`say "hi"`])
	find("enqueued", "state:failed error:BOOM", failed)
	find("enqueued", "id:"+failed, failed) // found where it is
	find("failed", "server:nobody")
	x.get("/jobs?q=args.card.password:x").wants(t, 400, "args.card.password is hidden here")
	x.get("/jobs?q="+failed).wants(t, 200, "Job "+failed)
	page := x.get("/jobs?state=succeeded&q="+url.QueryEscape("kind:note args.text:42")).wants(t, 200,
		`value="kind:note args.text:42"`, `<option value="args."`, `<option value="kind:note"`, "<b>1</b>",
		"/jobs/export?format=csv&amp;state=succeeded&amp;q=kind%3Anote+args.text%3A42")
	if strings.Contains(page.body, "Clear") != true {
		t.Error("no way back to the whole list")
	}
	c, res, err := x.dial("/live?view="+url.QueryEscape("/jobs?state=succeeded&q=42")+"&ids="+ids["42"]+"&vs=1", nil)
	if err != nil {
		t.Fatal(res, err)
	}
	defer c.Close()
	if _, err := read(t, c); err != nil {
		t.Error(err)
	}
}

// A download is the whole list of the filter, in its order, and no formula.
func TestExport(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	var items []jobs.Item
	for range 1201 {
		items = append(items, jobs.Item{Args: note{Text: "n"}, Options: []jobs.EnqueueOption{jobs.Queue("=1+1")}})
	}
	if _, err := x.client.EnqueueMany(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	x.enqueue(note{Text: "other"}, jobs.Priority(-2))
	a := x.get("/jobs/export?format=csv&state=enqueued").wants(t, 200)
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) != 1203 || rows[0][0] != "id" || rows[1][2] != "'=1+1" || rows[1202][6] != "-2" || !strings.Contains(rows[1202][14], `"other"`) {
		t.Errorf("%d rows, %q, %q, %v", len(rows), rows[1], rows[len(rows)-1], err)
	}
	if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="enqueued-jobs.csv"` || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", a.Header)
	}
	seen := map[string]bool{}
	a = x.get("/jobs/export?format=ndjson&state=enqueued&queue="+url.QueryEscape("=1+1")).wants(t, 200)
	for line := range strings.Lines(a.body) {
		var row struct {
			ID, Queue string
			Args      note
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil || seen[row.ID] || row.Queue != "=1+1" || row.Args.Text != "n" {
			t.Fatalf("%s: %v", line, err)
		}
		seen[row.ID] = true
	}
	if len(seen) != 1201 {
		t.Errorf("%d jobs", len(seen))
	}
	if n := strings.Count(x.get("/jobs/export?format=ndjson&q=args.text:other").body, "\n"); n != 1 {
		t.Errorf("%d jobs of a search", n)
	}
	x.do("HEAD", "/ops/jobs/export?format=csv", nil, nil).wants(t, 200)
	for _, cell := range []string{"=x", "+x", "-x", "@x", "\tx", "\rx"} {
		if got := web.Harmless(cell); got != "'"+cell {
			t.Errorf("%q: %q", cell, got)
		}
	}
}
