package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// The dashboard's rows of Hangfire's suite; jobs/CONFORMANCE.md says which hold and
// which differ. ERR-11 and EXE-04 are cases from bug reports of other systems.

// Row 95, EXE-04: a job of a kind that nobody has any more and one whose args are of
// the wrong type are listed, shown, requeued and deleted like any other.
func TestConformanceOddJobs_EXE04(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	t.Run("95 unreadable job data is still listed", func(t *testing.T) {
		var ids []int64
		for kind, args := range map[string]string{"gone.v1": `{"a":1}`, "note": `{"text":[1,2]}`} {
			e, err := x.client.EnqueueRaw(t.Context(), kind, json.RawMessage(args), jobs.Queue("odd"))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
		}
		for _, odd := range []string{`"text"`, `null`, `[]`} { // no door of ours lets these in
			ids = append(ids, x.enqueue(note{}, jobs.Queue("odd")))
			err := x.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
				_, err := tx.Exec(`update tekrar.jobs set args = $1, policy = '[]' where id = $2`, odd, ids[len(ids)-1])
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		list := x.get("/jobs?state=enqueued").wants(t, 200)
		for _, id := range ids {
			if !strings.Contains(list.body, fmt.Sprintf(`id="job-row-%d"`, id)) {
				t.Errorf("job %d is not listed", id)
			}
			x.get(fmt.Sprintf("/jobs/%d", id)).wants(t, 200)
			x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {targetOf(id, store.Enqueued)}}).wants(t, 303)
			x.get(fmt.Sprintf("/jobs/%d", id)).wants(t, 200)
			x.post("/jobs/act", url.Values{"do": {"once"}, "target": {targetOf(id, store.Deleted)}}).wants(t, 303)
			if got := x.state(id); got != store.Enqueued {
				t.Errorf("job %d is %s after its requeue", id, got)
			}
		}
		for _, page := range []string{"/", "/queues", "/queues/odd", "/attempts", "/jobs?kind=gone.v1"} {
			x.get(page).wants(t, 200)
		}
	})
}

func TestConformanceDashboard(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	t.Run("94 empty storage: every page, all counters 0", func(t *testing.T) {
		for _, page := range []string{"/", "/jobs", "/queues", "/servers", "/attempts", "/recurring"} {
			x.get(page).wants(t, 200)
		}
		for _, s := range store.States {
			if a := x.get("/jobs?state="+s.String()).wants(t, 200); strings.Contains(a.body, "job-row-") {
				t.Errorf("%s: a row without a job", s)
			}
		}
	})
	t.Run("96 job not found: said so", func(t *testing.T) {
		x.get("/jobs/404404").wants(t, 404, "no such page or job")
		x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {targetOf(404404, store.Failed)}}).wants(t, 404)
	})
	t.Run("99 defaults: this machine only, and only if that was asked for", func(t *testing.T) {
		if _, err := web.Mount(fiber.New(), "", x.client, web.Options{}); err == nil || !strings.Contains(err.Error(), "Options.Access") {
			t.Errorf("mounted without a decision: %v", err)
		}
		if _, err := web.Listen("0.0.0.0:0", "", x.client, web.Options{Access: web.None()}); err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("listens to everybody without a login: %v", err)
		}
		x.do("GET", "/", nil, headers{"Host": "tekrar.example"}).wants(t, 403)
		if a := x.get("/").wants(t, 200); !strings.Contains(a.body, `href="/jobs"`) {
			t.Error("the pages are not under the root")
		}
	})
}

// Row 97: a viewer is refused with 403, not 401: who it is is known, and a browser
// that is told 401 asks for another password.
func TestConformanceReadOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Authorize(func(*fiber.Ctx) (string, web.Role, error) {
		return "eve", web.Viewer, nil
	})}})
	one, two := targetOf(x.enqueue(note{}), store.Enqueued), targetOf(x.enqueue(note{}), store.Enqueued)
	before := x.picture()
	for name, targets := range map[string][]string{"single": {one}, "batch": {one, two}} {
		t.Run("97 "+name+" command of a viewer: 403", func(t *testing.T) {
			for _, do := range []string{"delete", "once", "fresh", "restore"} {
				x.post("/jobs/act", url.Values{"do": {do}, "target": targets}).wants(t, 403, "viewer")
			}
		})
	}
	if after := x.picture(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// ERR-11: the lines of an error stay lines, and its tabs tabs.
func TestErrorsKeepTheirLines_ERR11(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.work()
	id := x.failed("it:\n\tfirst\n\t\tsecond\n\nlast")
	page := x.get(fmt.Sprintf("/jobs/%d", id)).wants(t, 200)
	_, rest, found := strings.Cut(page.body, `aria-label="Error message">`)
	text, _, closed := strings.Cut(rest, "</pre>")
	if !found || !closed || !strings.HasSuffix(text, "it:\n\tfirst\n\t\tsecond\n\nlast") {
		t.Errorf("shown as %q", text)
	}
}
