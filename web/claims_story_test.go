package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/web"
)

// The purge card: a dry run counts, a purge removes, both by a job, asked for by name.
func TestClaimsPurge(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	jobs.Handle(x.client, x.claims().RunPurge)
	x.work()
	x.until("a server handles purges", func() bool { return strings.Contains(x.get("/claims").body, `value="dry"`) })
	for _, key := range []string{"old:1", "old:2", "young", "lost"} {
		x.claimed(key, map[bool]string{true: "unknown", false: "done"}[key == "lost"])
	}
	x.past(`update tekrar.effect_claims set touched_at = now() - interval '40 days' where key like 'old:%'`)
	x.said(x.post("/claims-purge", url.Values{"do": {"dry"}}), "Dry run enqueued")
	x.until("the dry run is shown", func() bool { return strings.Contains(x.get("/claims").body, "2 claims would go.") })
	x.get("/claims").wants(t, 200, "No purge is on record", "1 used within 30 days", "1 unsettled")
	x.effect("old:1")
	before := x.picture()
	x.post("/claims-purge", url.Values{"do": {"ask"}}).wants(t, 200, "Purge old claims now?", "2 claims would go.", "change nothing")
	if after := x.picture(); after != before {
		t.Errorf("asking changed something: %s, then %s", before, after)
	}
	x.said(x.post("/claims-purge", url.Values{"do": {"run"}}), "Purge enqueued")
	x.until("the purge is shown", func() bool { return strings.Contains(x.get("/claims").body, "2 claims removed.") })
	if _, err := x.db.Effect(t.Context(), "old:1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("old:1: %v", err)
	}
	var audit []string
	if err := x.db.Select(&audit, "select actor || ' ' || action || ' ' || (detail->>'dry_run') from "+x.db.Schema()+".audit order by id"); err != nil || !slices.Equal(audit, []string{"local purge effect claims true", "local purge effect claims false"}) {
		t.Errorf("audit %q, %v", audit, err)
	}
}

// send is a job whose effect is unknown: it asked a provider that never answered.
type send struct {
	Order int `json:"order"`
}

func (send) Kind() string { return "send" }

// An operator sees the claim on the job's page, decides there, requeues the job, and
// it succeeds without a second mail. The chosen tab stays.
func TestJobTabsWithClaims(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	claims, sent := x.claims(), make(chan struct{}, 10)
	jobs.Handle(x.client, func(ctx context.Context, j *jobs.Job[send]) error {
		_, err := claims.Do(ctx, idempotency.NewKey("send", j.Args.Order), func(ctx context.Context, c *idempotency.Claim) (any, error) {
			sent <- struct{}{}
			id, err := x.db.BeginCall(ctx, store.ProviderCall{Provider: "mailer", Key: c.ProviderKey(), Payload: "p", JobID: j.ID, Attempt: j.Attempt})
			return nil, errors.Join(errors.New("no answer"), err, x.db.EndCall(ctx, id, store.ProviderCall{Outcome: "unknown", Error: "no answer"}))
		})
		return err
	})
	x.work()
	e, err := x.client.Enqueue(t.Context(), send{Order: 9})
	if err != nil {
		t.Fatal(err)
	}
	id := strconv.FormatInt(e.ID, 10)
	x.until("failed", func() bool { return x.state(e.ID) == store.Failed })
	x.get("/jobs/"+id).wants(t, 200, `id="job-claims"`, `id="job-calls"`, `id="job-error"`, "send:9", "mailer", "Mark delivered…")
	for tab, panel := range map[string]string{"error": "job-error", "attempts": "job-attempts", "log": "job-said", "claims": "job-claims", "calls": "job-calls", "args": "args"} {
		body := x.get("/jobs/"+id+"?tab="+tab).wants(t, 200, `id="`+panel+`"`, `href="/jobs/`+id+`?tab=`+tab+`" aria-current="page"`).body
		for _, other := range []string{"job-error", "job-attempts", "job-said", "job-claims", "job-calls"} {
			if other != panel && strings.Contains(body, `id="`+other+`"`) {
				t.Errorf("tab %s also shows %s", tab, other)
			}
		}
	}
	x.get("/jobs/"+id+"?tab=x").wants(t, 400, "Field tab", "claims")
	x.get("/calls?job="+id).wants(t, 200, "send:9", "1 call,")
	x.get("/claims/send:9").wants(t, 200, `href="/jobs/`+id+`"`, "mailer", "One contender, job "+id+", attempt 1.")
	page := x.openAsPage("/jobs/" + id + "?tab=claims")
	form := decided("delivered", x.effect("send:9"))
	form.Set("back", "/jobs/"+id+"?tab=claims")
	x.post("/claims-confirm", form).wants(t, 200, "Job "+id+" is not requeued by this.")
	if to := x.post("/claims-act", form).wants(t, 303).Header.Get("Location"); to != "/jobs/"+id+"?tab=claims" {
		t.Errorf("sent to %q", to)
	}
	await(t, page, "the claim is done", "job-claims", func(html string) bool {
		return strings.Contains(html, "done") && !strings.Contains(html, "Mark delivered")
	})
	x.post("/jobs/act", url.Values{"do": {"once"}, "target": {targetOf(e.ID, store.Failed)}}).wants(t, 303)
	x.until("succeeded", func() bool { return x.state(e.ID) == store.Succeeded })
	if len(sent) != 1 {
		t.Errorf("%d mails, want 1", len(sent))
	}
}

// A holder that was paused past its lease comes back and sends too: the page counts
// the duplicate in words and shows both attempts at one time.
func TestClaimPageShowsADoubleRun(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	id := x.enqueue(note{})
	x.past(`delete from tekrar.history where job_id = $1`, id)
	for _, h := range []string{"1, 3, 60", "1, 2, 30", "2, 3, 29", "1, 7, 20", "2, 4, 10"} {
		x.past(`insert into tekrar.history (job_id, queue, kind, attempt, state, at) select $1, 'default', 'note', a, s, now() - t * interval '1 s' from (values (`+h+`)) v(a, s, t)`, id)
	}
	past, err := json.Marshal([]map[string]any{{"token": 1, "job": id, "attempt": 1, "holder": "h", "state": 2, "generation": 1,
		"claimed_at": time.Now().Add(-59 * time.Second), "begun_at": time.Now().Add(-58 * time.Second), "until": time.Now().Add(-28 * time.Second)}})
	if err != nil {
		t.Fatal(err)
	}
	x.past(`insert into tekrar.effect_claims (key, state, job_id, attempt, claimed_at, begun_at, effect_at, settled_at, stale_at, stale_us, reclaims, receipt, past)
		values ('double', 4, $1, 2, now() - interval '28 s', now() - interval '28 s', now() - interval '58 s', now() - interval '12 s', now(), 0, 1, '{"reference": "msg-0002"}', $2)`, id, string(past))
	x.past(`insert into tekrar.effect_receipts (key, token, job_id, attempt, generation, at, receipt) values ('double', -1, $1, 1, 1, now() - interval '21 s', '{"reference": "msg-0001"}')`, id)
	name := fmt.Sprintf("job %d, attempt ", id)
	page := x.get("/claims/double").wants(t, 200, "1 duplicate: a receipt that came late tells of a second effect.", "a duplicate, it tells of another effect",
		"Double run: "+name+"1 and "+name+"2 ran at the same time for ", `class="ax-both"`, "msg-0001", "msg-0002", "Left by its holder as begun")
	if n := strings.Count(page.body, `class="ax-both"`); n != 3 { // both rows and the legend
		t.Errorf("%d overlaps drawn", n)
	}
	x.get("/claims?tab=done").wants(t, 200, `class="st st-failed"`)
	x.get("/calls").wants(t, 200)
}

// SEC-01: receipts, reasons and keys of strangers stay text.
func TestClaimTextsStayText(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	evil := `"><script>alert(1)</script>`
	receipt, _ := json.Marshal(map[string]string{"reference": evil})
	x.past(`insert into tekrar.effect_claims (key, state, stale_at, stale_us, reason, receipt, holder, settled_at) values ($1, 4, now(), 0, $1, $2, $1, now())`, evil, string(receipt))
	x.past(`insert into tekrar.effect_receipts (key, token, generation, receipt) values ($1, -1, 1, $2)`, evil, string(receipt))
	x.past(`insert into tekrar.provider_calls (provider, key, payload, outcome, reference, error, ended_at) values ($1, $1, 'p', 'delivered', $1, $1, now())`, evil)
	x.past(`insert into tekrar.provider_calls (provider, key, payload) values ($1, $1, 'q')`, evil)
	for _, path := range []string{"/claims?tab=done", views.Links{}.Claim(evil), "/calls", "/calls?key=" + url.QueryEscape(evil)} {
		if body := x.get(path).wants(t, 200, html.EscapeString(evil)).body; strings.Contains(body, "<script>alert") {
			t.Errorf("%s: script in the page", path)
		}
	}
}
