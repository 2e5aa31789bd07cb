package web_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/web"
	"github.com/tekrar/tekrar/web/redact"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Hidden values reach no page, frame or download, and stay in the database.
func TestHiddenValuesAreShownNowhere(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	claims, err := idempotency.New(x.db, idempotency.Config{Logger: x.quiet()})
	if err != nil {
		t.Fatal(err)
	}
	jobs.Handle(x.client, func(ctx context.Context, j *jobs.Job[secretive]) error {
		_, err := claims.Do(ctx, idempotency.NewKey("effect", 1), func(context.Context, *idempotency.Claim) (any, error) {
			return map[string]string{"reference": "r-1", "client_secret": "canary"}, nil
		})
		if err != nil {
			return err
		}
		return j.SetResult(map[string]string{"access_token": "canary", "plain": "shown"})
	})
	x.work()
	e, err := x.client.Enqueue(t.Context(), secretive{Token: "canary", N: 1970670598291982290})
	if err != nil {
		t.Fatal(err)
	}
	job := "/jobs/" + itoa(e.ID)
	x.until("done", func() bool { return strings.Contains(x.get(job).body, "shown") })
	if err := x.client.SaveRecurring(t.Context(), "ada", jobs.RecurringSpec{ID: "nightly", Kind: "secretive", Spec: "0 3 * * *", Args: json.RawMessage(`{"token":"canary","n":7}`)}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		job: "1970670598291982290", "/jobs/export?state=succeeded&format=csv": redact.Hidden, "/jobs/export?state=succeeded&format=ndjson": redact.Hidden,
		"/claims?tab=done": "effect", "/claims/effect:1": "r-1", "/recurring/nightly": redact.Hidden,
	} {
		if a := x.get(path).wants(t, 200, want); strings.Contains(a.body, "canary") {
			t.Errorf("%s shows a hidden value", path)
		}
	}
	conn, _, err := x.dial("/live?view="+url.QueryEscape(job), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := x.client.Requeue(t.Context(), "ada", jobs.FreshBudget, jobs.Target{ID: e.ID, Expected: jobs.Succeeded}); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for frames := ""; !strings.Contains(frames, "job-timeline"); {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if frames += string(text); strings.Contains(frames, "canary") {
			t.Error("a live frame shows a hidden value")
		}
	}
	d, err := x.db.Job(t.Context(), e.ID, 10, 0)
	if err != nil || !strings.Contains(string(d.Args), "canary") {
		t.Errorf("what is stored changed: %s, %v", d.Args, err)
	}
}

type secretive struct {
	Token string `json:"token"`
	N     int64  `json:"n"`
}

func (secretive) Kind() string { return "secretive" }

// A form that is saved as it came keeps what it could not show.
func TestFormKeepsHiddenValues(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	if err := x.client.SaveRecurring(t.Context(), "ada", jobs.RecurringSpec{ID: "nightly", Kind: "k", Spec: "0 3 * * *", Args: json.RawMessage(`{"token":"canary","n":7}`)}); err != nil {
		t.Fatal(err)
	}
	save := func(args string) answer {
		row, err := x.db.RecurringOne(t.Context(), "nightly")
		if err != nil {
			t.Fatal(err)
		}
		return x.post("/recurring-save", url.Values{"do": {"save"}, "id": {"nightly"}, "spec": {"0 4 * * *"}, "zone": {"UTC"}, "misfire": {"run_once"},
			"overlap": {"allow"}, "queue": {row.Queue}, "args": {args}, "seen": {itoa(row.UpdatedAt.UnixMicro())}})
	}
	save(`{"token":"•••","n":8}`).wants(t, 303)
	row, err := x.db.RecurringOne(t.Context(), "nightly")
	if err != nil || !strings.Contains(string(row.Args), "canary") || !strings.Contains(string(row.Args), "8") {
		t.Errorf("stored: %s, %v", row.Args, err)
	}
	if a := save(`{"other_token":"•••"}`).wants(t, 400, "other_token"); strings.Contains(a.body, "canary") {
		t.Error("the answer shows the hidden value")
	}
	save(`{"token":"new"}`).wants(t, 303)
	if row, _ = x.db.RecurringOne(t.Context(), "nightly"); !strings.Contains(string(row.Args), `"new"`) {
		t.Errorf("stored: %s", row.Args)
	}
}
