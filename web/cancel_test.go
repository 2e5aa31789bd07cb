package web_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
	"github.com/tekrar/tekrar/web"
)

// running is a job that a server holds which does not look at it.
func (x *site) running() (id, server int64) {
	x.t.Helper()
	id = x.enqueue(note{})
	server, err := x.db.Register(x.t.Context(), store.NewServer{Name: "deaf", Host: "h", Lease: time.Hour})
	if err != nil {
		x.t.Fatal(err)
	}
	claimed, err := x.db.Claim(x.t.Context(), server, []store.Lane{{Queue: "default"}}, []string{"note"}, 1)
	if err != nil || len(claimed) != 1 || claimed[0].ID != id {
		x.t.Fatal(claimed, err)
	}
	return id, server
}

// EXE-14: cancel asks first, is said on the job's page while it waits, live when the
// server acknowledges it, when it is ignored and when the attempt has ended; a job that runs no more is refused with
// what can be done with it instead.
func TestEXE14CancelFromTheDashboard(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id, server := x.running()
	page := "/jobs/" + strconv.FormatInt(id, 10)
	x.do("GET", page, nil, nil).wants(t, 200, `id="btn-cancel"`, `id="btn-delete"`)
	form := url.Values{"do": {"cancel"}, "target": {targetOf(id, store.Processing)}, "back": {page}}
	x.post("/jobs/confirm", form).wants(t, 200, "Cancel 1 job?", "nothing is retried", "Go back, change nothing")
	a := x.post("/jobs/act", form).wants(t, 303)
	cookie := a.Cookies()[len(a.Cookies())-1]
	said := x.do("GET", page, nil, headers{"Cookie": cookie.Name + "=" + cookie.Value}).
		wants(t, 200, "1 job asked to end.", "Cancel requested by local", "has not returned yet")
	if strings.Contains(said.body, `id="btn-cancel"`) || !strings.Contains(said.body, `id="btn-delete"`) {
		t.Error("the buttons of a job that was asked to end")
	}
	if strings.Contains(said.body, "acknowledged") || strings.Contains(x.get("/api"+page).wants(t, 200, `"cancel":`).body, "acknowledged_at") {
		t.Error("acknowledged, though no server did")
	}
	socket := x.openAsPage(page)
	if noted, err := x.db.AcknowledgeCancels(t.Context(), server, []store.Token{{ID: id, Attempt: 1}}); err != nil || len(noted) != 1 {
		t.Fatal(noted, err)
	}
	await(t, socket, "its server acknowledges", "job-header", func(html string) bool {
		return strings.Contains(html, "acknowledged") && strings.Contains(html, ": the handler still runs.")
	})
	x.get("/api"+page).wants(t, 200, `"acknowledged_at":`)
	storetest.Exec(t, x.db.DB, `update tekrar.running set cancel_acknowledged_at = cancel_acknowledged_at - interval '31 s'`)
	x.do("GET", page, nil, nil).wants(t, 200, "Cancel requested by local", ", acknowledged ", ": ignored.")
	failed := store.Settled{ID: id, Attempt: 1, State: store.Failed, Outcome: store.OutcomeExhausted, Reason: "An error occurred during attempt 1"}
	if refused, err := x.db.Settle(t.Context(), server, []store.Settled{failed}); err != nil || len(refused) != 0 {
		t.Fatal(refused, err)
	}
	x.do("GET", page, nil, nil).wants(t, 200, "Cancelled by local", "cancel requested by local, ", "Cancel requested by local and heeded: the handler returned", `id="btn-restore"`)
	x.post("/jobs/act", form).wants(t, 409, "moved meanwhile", "Restore")
	waiting := x.enqueue(note{})
	x.post("/jobs/act", url.Values{"do": {"cancel"}, "target": {targetOf(waiting, store.Enqueued)}}).wants(t, 409, "moved meanwhile", "Delete…")
	if x.state(id) != store.Deleted || x.state(waiting) != store.Enqueued {
		t.Error("a refused cancel changed something")
	}
}
