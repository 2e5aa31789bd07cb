package web_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// Whatever a person does is in the audit under the name that the login says, not one
// that a form or a header could bring.
func TestActionsAreAuditedByName(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: team(t)}})
	id := x.enqueue(note{})
	as := basicAuth("otto", "otto's: password")
	as["Sec-Fetch-Site"], as["X-Remote-User"] = "same-origin", "admin"
	for _, one := range []struct {
		path string
		form url.Values
	}{
		{"/jobs/act", url.Values{"do": {"delete"}, "target": {targetOf(id, store.Enqueued)}}},
		{"/jobs/act", url.Values{"do": {"restore"}, "target": {targetOf(id, store.Deleted)}}},
		{"/queues/act", url.Values{"do": {"pause"}, "queue": {"default"}}},
		{"/queues/act", url.Values{"do": {"resume"}, "queue": {"default"}}},
		{"/recurring-save", url.Values{"do": {"save"}, "new": {"1"}, "id": {"r"}, "kind": {"note"}, "spec": {"@daily"}, "misfire": {"skip"}, "overlap": {"allow"}, "args": {"{}"}}},
		{"/recurring-act", url.Values{"do": {"run"}, "id": {"r"}}},
		{"/recurring-act", url.Values{"do": {"pause"}, "id": {"r"}}},
		{"/recurring-act", url.Values{"do": {"remove"}, "id": {"r"}}},
	} {
		one.form.Set("actor", "admin")
		x.do("POST", one.path, one.form, as).wants(t, 303)
	}
	rows, _, err := x.db.AuditRows(t.Context(), store.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, r := range slices.Backward(rows) {
		if r.Actor != "otto" {
			t.Errorf("%s by %q", r.Action, r.Actor)
		}
		did = append(did, r.Action)
	}
	want := []string{"delete", "restore", "pause queue", "resume queue", "save recurring", "run recurring now", "pause recurring", "remove recurring"}
	if !slices.Equal(did, want) {
		t.Errorf("audit: %q, want %q", did, want)
	}
}
