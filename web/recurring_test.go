package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/web"
)

// rarely is a schedule that no test is long enough to see fire.
const rarely = "0 0 1 1 *"

func (x *site) schedule(s jobs.RecurringSpec) {
	x.t.Helper()
	if s.Kind == "" {
		s.Kind = "note"
	}
	if s.Spec == "" {
		s.Spec = rarely
	}
	if err := x.client.SaveRecurring(x.t.Context(), "ada", s); err != nil {
		x.t.Fatal(err)
	}
}

func (x *site) recurring(id string) store.RecurringRow {
	x.t.Helper()
	r, err := x.db.RecurringOne(x.t.Context(), id)
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// audited lists who did what to a recurring job, oldest first.
func (x *site) audited(id string) (list []string) {
	x.t.Helper()
	err := x.db.Select(&list, "select actor || ': ' || action from "+x.db.Schema()+".audit where detail->>'recurring' = $1 order by id", id)
	if err != nil {
		x.t.Fatal(err)
	}
	return list
}

// past writes what only time can.
func (x *site) past(text string, args ...any) {
	x.t.Helper()
	err := x.db.Tx(x.t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(strings.ReplaceAll(text, "tekrar.", x.db.Schema()+"."), args...)
		return err
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

func TestRecurringPages(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.get("/recurring").wants(t, 200, "No recurring job yet", "client.Recurring(")
	x.schedule(jobs.RecurringSpec{ID: "either", Spec: "0 0 13 * 5", Zone: "Europe/Istanbul", Args: json.RawMessage(`{"n":9007199254740993123}`)})
	x.schedule(jobs.RecurringSpec{ID: "resting", Paused: true})
	x.schedule(jobs.RecurringSpec{ID: "gone"})
	x.schedule(jobs.RecurringSpec{ID: "over", End: time.Now().Add(-time.Hour)})
	x.schedule(jobs.RecurringSpec{ID: "broken"})
	x.past(`update tekrar.recurring set zone = 'Mars/Phobos', error = 'zone: is not known', next_run = null where id = 'broken'`)
	x.post("/recurring-act", url.Values{"do": {"remove"}, "id": {"gone"}}).wants(t, 303)
	a := x.get("/recurring").wants(t, 200, "on day 13 of the month or on Friday, Europe/Istanbul time", "paused", "by ada", "removed", "ended", "cannot fire", "zone: is not known", "cannot be read")
	next := x.recurring("either").NextRun
	if here := next.In(time.FixedZone("+03", 3*3600)).Format("2006-01-02 15:04:05 MST"); !strings.Contains(a.body, here) || !strings.Contains(a.body, next.Format("2006-01-02 15:04:05")+" UTC") {
		t.Errorf("the next fire %s is not there in both zones", next)
	}
	x.get("/recurring/either").wants(t, 200, "9007199254740993123", "run once: one job stands", "It has not fired yet.", "a person")
	x.get("/recurring/broken").wants(t, 200, "zone: is not known", "Try again")
	if body := x.get("/recurring/gone").wants(t, 200, "removed", "bring it back").body; strings.Contains(body, `value="run"`) {
		t.Error("a removed one can be run")
	}
	for path, status := range map[string]int{
		"/recurring/none": 404, "/recurring/a/b": 404, "/recurring/%ff": 404, "/recurring/%00": 404, "/recurring?state=x": 400, "/recurring/either?x=1": 400, "/recurring?id=none": 404,
		"/live?view=%2Frecurring%2Fnone": 404, "/live?view=%2Frecurring%3Fid%3Dnone": 404, "/live?view=%2Frecurring%2Fa%2Fb": 404, "/recurring-act": 405, "/recurring-new": 200,
	} {
		x.get(path).wants(t, status)
	}
	if s := x.log.String(); strings.Contains(s, "failed") || strings.Contains(s, "could not") {
		t.Errorf("log: %s", s)
	}
}

// CRN-17: a paused schedule and one that never ran are shown, with a dash.
func TestCRN17PausedAndNeverRun(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.schedule(jobs.RecurringSpec{ID: "paused", Paused: true})
	x.schedule(jobs.RecurringSpec{ID: "never"})
	x.past(`update tekrar.recurring set next_run = null where id = 'never'`)
	for path, dashes := range map[string]int{"/recurring": 2, "/recurring/paused": 1, "/recurring/never": 1} {
		if n := strings.Count(x.get(path).wants(t, 200).body, `title="No fire is to come">–<`); n != dashes {
			t.Errorf("%s: %d dashes, want %d", path, n, dashes)
		}
	}
}

// SEC-09: an id leads to that very recurring job and acts on it alone.
func TestOddRecurringIDs(t *testing.T) {
	t.Parallel()
	for how, config := range map[string]*fiber.Config{"own server": nil, "unescaping": {UnescapePath: true}, "strict": {StrictRouting: true, CaseSensitive: true}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			oddRecurringIDs(t, open(t, settings{prefix: "/ops/jobs", fiber: config, options: web.Options{Access: web.None()}}))
		})
	}
}

func oddRecurringIDs(t *testing.T, x *site) {
	ids := []string{"a/b", "a b", "a+b", "100%", "?x=1", "#h", "%2F", "é✓", "🙂", `q"'<&>`, `a\b`, "..", "a/../b", "act", "new", strings.Repeat("long", 50)}
	links := views.Links{Prefix: x.prefix}
	for _, id := range ids {
		x.schedule(jobs.RecurringSpec{ID: id})
	}
	list := x.get("/recurring").wants(t, 200)
	for _, id := range ids {
		link := links.RecurringOne(id)
		if !strings.Contains(list.body, `href="`+html.EscapeString(link)+`"`) || !strings.Contains(list.body, `id="`+html.EscapeString(views.RecurringRowID(id))+`"`) {
			t.Errorf("%q: no link or row in the list", id)
		}
		page := x.do("GET", link, nil, nil).wants(t, 200, `name="id" value="`+html.EscapeString(id)+`"`)
		if n := strings.Count(page.body, `value="pause"`); n != 1 {
			t.Errorf("%q: %d pause buttons on its page", id, n)
		}
		x.openAsPage(strings.TrimPrefix(link, x.prefix)).Close()
		a := x.post("/recurring-act", url.Values{"do": {"pause"}, "id": {id}, "back": {link}}).wants(t, 303)
		if to := a.Header.Get("Location"); to != link {
			t.Errorf("%q: sent to %q, want %q", id, to, link)
		}
		all, err := x.db.RecurringAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if (r.PausedAt != nil) != (r.ID == id) {
				t.Errorf("pausing %q: %q paused: %v", id, r.ID, r.PausedAt != nil)
			}
		}
		x.post("/recurring-act", url.Values{"do": {"resume"}, "id": {id}}).wants(t, 303)
	}
}

func TestRecurringActions(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.schedule(jobs.RecurringSpec{ID: "report"})
	before := x.recurring("report").NextRun
	act := func(do string) answer {
		return x.post("/recurring-act", url.Values{"do": {do}, "id": {"report"}, "back": {"/recurring/report"}})
	}
	said := func(a answer, text string) {
		t.Helper()
		a.wants(t, 303)
		cookie := a.Cookies()[len(a.Cookies())-1]
		x.do("GET", a.Header.Get("Location"), nil, headers{"Cookie": cookie.Name + "=" + cookie.Value}).wants(t, 200, text)
	}
	said(act("run"), "1 job enqueued.")
	r := x.recurring("report")
	if len(r.Last) != 1 || r.Last[0].JobID == nil || !r.NextRun.Equal(*before) {
		t.Fatalf("%+v, next %v", r.Last, r.NextRun)
	}
	x.get("/recurring").wants(t, 200, fmt.Sprintf(`href="/jobs/%d" title="`, *r.Last[0].JobID), "run now by local")
	x.get("/recurring/report").wants(t, 200, "run now by local", "enqueued")
	said(act("pause"), "Paused")
	if r := x.recurring("report"); r.PausedAt == nil || r.PausedBy != "local" {
		t.Errorf("%+v", r)
	}
	said(act("resume"), "Resumed.")
	stands := x.picture()
	x.post("/recurring-confirm", url.Values{"do": {"remove"}, "id": {"report"}}).wants(t, 200, "Remove", "At 00:00 on day 1 of the month", `href="/recurring/report"`, "change nothing")
	if after := x.picture(); after != stands {
		t.Errorf("asking changed something: %s, then %s", stands, after)
	}
	said(act("remove"), "Removed.")
	x.post("/recurring-confirm", url.Values{"do": {"remove"}, "id": {"report"}}).wants(t, 409, "removed meanwhile")
	act("run").wants(t, 409, "removed meanwhile", `href="/recurring/report"`)
	want := []string{"ada: save recurring", "local: run recurring now", "local: pause recurring", "local: resume recurring", "local: remove recurring"}
	if got := x.audited("report"); !slices.Equal(got, want) {
		t.Errorf("audit: %q, want %q", got, want)
	}
	for text, form := range map[string]url.Values{
		"Known ones: [run pause resume remove]": {"do": {"stop"}, "id": {"report"}}, "Field id": {"do": {"pause"}}, "NUL": {"do": {"pause"}, "id": {"a\x00"}},
	} {
		x.post("/recurring-act", form).wants(t, 400, text)
	}
	x.post("/recurring-act", url.Values{"do": {"pause"}, "id": {"none"}}).wants(t, 404)
	x.post("/recurring-confirm", url.Values{"do": {"pause"}, "id": {"report"}}).wants(t, 400, "Known ones: [remove]")
	x.post("/recurring-confirm", url.Values{"do": {"remove"}, "id": {"none"}}).wants(t, 404)
}

// SEC-07: a viewer sees the pages without a button and may press none.
func TestViewerLeavesRecurringJobsAlone(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Authorize(func(*fiber.Ctx) (string, web.Role, error) { return "eve", web.Viewer, nil })}})
	x.schedule(jobs.RecurringSpec{ID: "report"})
	before, stands := x.recurring("report"), x.picture()
	for _, do := range []string{"run", "pause", "resume", "remove", "save", "preview"} {
		form := url.Values{"do": {do}, "id": {"report"}, "new": {"1"}, "kind": {"note"}, "spec": {"* * * * *"}}
		for _, path := range []string{"/recurring-act", "/recurring-confirm", "/recurring-save"} {
			x.post(path, form).wants(t, 403, "viewer")
		}
	}
	x.get("/recurring-new").wants(t, 403)
	for _, path := range []string{"/recurring", "/recurring/report"} {
		if body := x.get(path).wants(t, 200, "report").body; strings.Contains(body, `name="do"`) || strings.Contains(body, "recurring-new") {
			t.Errorf("%s offers an action", path)
		}
	}
	if after := x.recurring("report"); !after.UpdatedAt.Equal(before.UpdatedAt) || x.picture() != stands {
		t.Error("a viewer changed something")
	}
}
