package web_test

import (
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/web"
)

// SEC-07: on a replica everything is shown and nothing is offered or done.
func TestReadOnlyDashboard(t *testing.T) {
	t.Parallel()
	var replica atomic.Bool
	replica.Store(true)
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo, ReadOnly: replica.Load}})
	id := x.enqueue(note{})
	before := x.picture()
	for _, r := range web.Routes() {
		path := strings.NewReplacer(":id", "1", ":name", "x", "*", "default").Replace(r.Path)
		switch {
		case r.Path == "/theme":
			x.post(path, url.Values{"theme": {"dark"}}).wants(t, 303)
		case r.Path == "/jobs/views":
			x.post(path, url.Values{"view": {"save"}, "name": {"mine"}}).wants(t, 303)
		case r.Method == "POST":
			x.post(path, url.Values{"do": {"delete"}, "target": {"1:enqueued"}, "queue": {"default"}}).wants(t, 503, "takes no writes", "Nothing was changed")
		}
	}
	for _, path := range []string{"/", "/jobs", "/queues", "/jobs/" + itoa(id)} {
		if a := x.get(path).wants(t, 200); strings.Contains(a.body, `name="do"`) {
			t.Errorf("%s offers an action", path)
		}
	}
	if after := x.picture(); after != before {
		t.Errorf("changed: %s, then %s", before, after)
	}
	replica.Store(false) // promoted
	x.post("/queues/act", url.Values{"do": {"pause"}, "queue": {"default"}}).wants(t, 303)
}

// A database that stops taking writes under the dashboard says so, too. lib/pq begins
// transactions as read write, which only a replica refuses: the error is that of a
// transaction that was made read-only.
func TestDatabaseTurnsReadOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{})
	err := x.db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`create function tekrar.no_writes() returns trigger language plpgsql as $$ begin raise 'read-only' using errcode = '25006'; end $$;
create trigger no_writes before insert on tekrar.history execute function tekrar.no_writes()`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	x.get("/jobs/"+itoa(id)).wants(t, 200)
	x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {itoa(id) + ":enqueued"}}).wants(t, 503, "takes no writes", "Nothing was changed")
	if log := x.log.String(); strings.Contains(log, "request failed") {
		t.Errorf("logged as an error of ours: %s", log)
	}
}
