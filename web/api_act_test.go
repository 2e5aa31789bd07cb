package web_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// recurringAnswers holds every operation on a recurring job to the document.
func recurringAnswers(t *testing.T, c *contract) {
	t.Helper()
	const path = "/recurring/a%2Fb%20100%25"
	const body = `{"kind":"letter","spec":"0 3 * * 1","zone":"Europe/Istanbul","args":{"n":1234567890123456789.10,"token":"canary"},"queue":"mail","priority":2,"misfire":"skip",` +
		`"overlap":"queue_one","policy":{"max_retries":2,"delays":["1s","2s"],"on_exceeded":"delete"},"timeout_ms":5000,"start_at":"2026-01-01T00:00:00Z","end_at":"2099-01-01T00:00:00+03:00","paused":true,"expected":"new"}`
	made := c.call(t, "PUT /recurring/{id}", 201, path, body, nil).wants(t, 201, `"id":"a/b 100%"`, "1234567890123456789.10", `"token":"•••"`, `"max_retries":2`, `"paused_by":"local"`, `"end_at":"2098-12-31T21:00:00Z"`)
	if got := made.Header.Get("Location"); got != "/ops/api"+path {
		t.Errorf("location %q", got)
	}
	c.call(t, "PUT /recurring/{id}", 409, path, body, nil).wants(t, 409, "state-changed", `"updated_at"`)
	var now struct {
		UpdatedAt string `json:"updated_at"`
	}
	a := c.call(t, "GET /recurring/{id}", 200, path, "", nil)
	if err := json.Unmarshal([]byte(a.body), &now); err != nil {
		t.Fatal(err)
	}
	edit := strings.NewReplacer(`"canary"`, `"•••"`, `"priority":2`, `"priority":-1`, `"expected":"new"`, `"expected":"`+now.UpdatedAt+`"`).Replace(body)
	c.call(t, "PUT /recurring/{id}", 200, path, edit, nil).wants(t, 200, `"priority":-1`, `"token":"•••"`)
	c.call(t, "PUT /recurring/{id}", 409, path, edit, nil).wants(t, 409, "state-changed", "saved meanwhile")
	row, err := c.x.db.RecurringOne(t.Context(), "a/b 100%")
	if err != nil || !strings.Contains(string(row.Args), "canary") {
		t.Errorf("the hidden value is lost: %s, %v", row.Args, err)
	}
	c.call(t, "POST /recurring/{id}/resume", 200, path+"/resume", "", nil)
	c.call(t, "POST /recurring/{id}/pause", 200, path+"/pause", "{}", nil).wants(t, 200, `"paused_at"`)
	c.call(t, "POST /recurring/{id}/run", 201, path+"/run", "", nil).wants(t, 201, `"state":"enqueued"`)
	c.call(t, "POST /recurring/{id}/remove", 200, path+"/remove", "{}", nil).wants(t, 200, `"removed_at"`)
	c.call(t, "POST /recurring/{id}/run", 409, path+"/run", "{}", nil).wants(t, 409, "state-changed", "was removed")
	c.call(t, "POST /recurring/{id}/pause", 404, "/recurring/none/pause", "{}", nil)
	c.call(t, "GET /recurring/{id}", 404, "/recurring/none", "", nil)
	c.call(t, "PUT /recurring/{id}", 400, path, `{"kind":"letter","spec":"61 * * * *"}`, nil).wants(t, 400, "Field spec")
}

// claimAnswers holds every decision on a claim to the document.
func claimAnswers(t *testing.T, c *contract) {
	t.Helper()
	for do, from := range map[string]string{"delivered": "unknown", "not-delivered": "unknown", "again": "done", "reclaim": "stale"} {
		e := c.x.claimed("mail/"+do, from)
		path := "/claims/mail%2F" + do + "/" + do
		body := fmt.Sprintf(`{"token":"%d","expected":%q,"note":"the customer called"}`, e.Token, e.State)
		c.call(t, "POST /claims/{key}/"+do, 200, path, body, nil)
		c.call(t, "POST /claims/{key}/"+do, 409, path, body, nil).wants(t, 409, "state-changed", `"claim_state":"`+c.x.effect("mail/"+do).State.String()+`"`)
		c.call(t, "POST /claims/{key}/"+do, 404, "/claims/none/"+do, body, nil)
		c.call(t, "POST /claims/{key}/"+do, 400, path, `{"token":"1"}`, nil).wants(t, 400, "Field expected")
		c.call(t, "POST /claims/{key}/"+do, 400, path, `{"expected":"done"}`, nil).wants(t, 400, "Field token")
	}
}

// What programs do ends as it does from the pages, under the name of the login, and
// once however often it is sent.
func TestClaimDecisionsOfPrograms(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for do, want := range map[string]struct {
		from, audit string
		to          store.EffectState
	}{
		"delivered": {"unknown", "mark delivered", store.EffectDone}, "not-delivered": {"unknown", "mark not delivered", store.EffectReleased},
		"again": {"unknown", "send again", store.EffectReleased}, "reclaim": {"stale", "reclaim effect", store.EffectUnknown},
	} {
		e := x.claimed(do, want.from)
		body := fmt.Sprintf(`{"token":"%d","expected":%q,"note":"seen in the log"}`, e.Token, e.State)
		var won, lost int
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				a := x.call("POST", "/api/claims/"+do+"/"+do, body, nil)
				mu.Lock()
				defer mu.Unlock()
				switch a.StatusCode {
				case 200:
					won++
				case 409:
					lost++
				}
			})
		}
		all.Wait()
		now := x.effect(do)
		if won != 1 || lost != 3 || now.State != want.to || !strings.Contains(now.Reason+string(now.Receipt), "seen in the log") {
			t.Errorf("%s: %d won, %d lost, then %+v", do, won, lost, now)
		}
		if got := x.auditedClaim(do); !slices.Equal(got, []string{"local: " + want.audit}) {
			t.Errorf("%s: audit %q", do, got)
		}
		live := x.claimed(do+" live", "begun")
		x.call("POST", "/api/claims/"+do+"%20live/"+do, fmt.Sprintf(`{"token":"%d","expected":"begun"}`, live.Token), nil).wants(t, 409, "its holder lives")
	}
}

// A run with a key is one run, a key for another id is refused; the rest can be said
// twice. The audit has everything once it was done.
func TestRecurringOfPrograms(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: team(t)}})
	as := basicAuth("otto", "otto's: password")
	for _, id := range []string{"one", "two"} {
		x.call("PUT", "/api/recurring/"+id, `{"kind":"note","spec":"@daily"}`, as).wants(t, 201, `"queue":"default"`, `"zone":"UTC"`, `"args":{}`)
	}
	keyed := headers{"Authorization": as["Authorization"], "Idempotency-Key": "k-1"}
	first := x.call("POST", "/api/recurring/one/run", "{}", keyed).wants(t, 201)
	again := x.call("POST", "/api/recurring/one/run", "{}", keyed).wants(t, 201)
	if again.body != first.body || again.Header.Get("Idempotent-Replayed") != "true" || x.count(`select count(*) from tekrar.jobs`) != 1 {
		t.Errorf("first %s, again %s", first.body, again.body)
	}
	x.call("POST", "/api/recurring/two/run", "{}", keyed).wants(t, 422, "key-reused")
	x.call("POST", "/api/jobs", `{"kind":"note","args":{}}`, keyed).wants(t, 201)
	for range 2 {
		x.call("POST", "/api/recurring/one/pause", "", as).wants(t, 200, `"paused_by":"otto"`)
	}
	x.call("POST", "/api/recurring/one/resume", "", as).wants(t, 200)
	x.call("POST", "/api/recurring/one/remove", "", as).wants(t, 200)
	x.call("PUT", "/api/recurring/one", `{"kind":"note","spec":"@hourly"}`, as).wants(t, 200, `"spec":"@hourly"`)
	want := []string{"otto: save recurring", "otto: run recurring now", "otto: pause recurring", "otto: pause recurring", "otto: resume recurring", "otto: remove recurring", "otto: save recurring"}
	if got := x.audited("one"); !slices.Equal(got, want) {
		t.Errorf("audit %q", got)
	}
	if row, err := x.db.RecurringOne(t.Context(), "one"); err != nil || row.RemovedAt != nil || row.NextRun == nil {
		t.Errorf("it did not come back: %+v, %v", row, err)
	}
}

// Nothing that is wrong is stored, and each refusal names the member.
func TestBadRecurringOfPrograms(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.call("PUT", "/api/recurring/stands", `{"kind":"note","spec":"@daily"}`, nil).wants(t, 201)
	before := x.picture()
	for body, want := range map[string]string{
		``: "Field kind", `[]`: "JSON object", `{"kind":"note"}`: "Field spec", `{"spec":"@daily"}`: "Field kind",
		`{"kind":"note","spec":"@daily","x":1}`: `x\": unknown`, `{"kind":"note","spec":"0 0 30 2 *"}`: "never fires", `{"kind":"note","spec":"@daily","zone":"Mars/X"}`: "Field zone",
		`{"kind":"note","spec":"@daily","args":[1]}`: "Field args", `{"kind":"note","spec":"@daily","args":{"token":"•••"}}`: "token", `{"kind":"note","spec":"@daily","queue":"\n"}`: "Field queue",
		`{"kind":"note","spec":"@daily","priority":5}`: "riority", `{"kind":"note","spec":"@daily","misfire":"x"}`: "Field misfire", `{"kind":"note","spec":"@daily","overlap":"x"}`: "Field overlap",
		`{"kind":"note","spec":"@daily","timeout_ms":-1}`: "Field timeout_ms", `{"kind":"note","spec":"@daily","start_at":"soon"}`: "Field start_at", `{"kind":"note","spec":"@daily","end_at":"0001-01-01T00:00:00Z"}`: "Field end_at",
		`{"kind":"note","spec":"@daily","start_at":"2030-01-01T00:00:00Z","end_at":"2029-01-01T00:00:00Z"}`: "Field end_at", `{"kind":"note","spec":"@daily","policy":{"max_retries":-1}}`: "Field policy",
		`{"kind":"other","spec":"@daily"}`: "Field kind", `{"kind":"note","spec":"@daily","paused":true}`: "Field paused", `{"kind":"note","spec":"@daily","expected":"x"}`: "Field expected",
	} {
		x.call("PUT", "/api/recurring/stands", body, nil).wants(t, 400, want)
	}
	x.call("PUT", "/api/recurring/none", `{"kind":"note","spec":"@daily","expected":"2026-01-01T00:00:00Z"}`, nil).wants(t, 404)
	x.call("PUT", "/api/recurring/"+strings.Repeat("i", 201), `{"kind":"note","spec":"@daily"}`, nil).wants(t, 400, "Field id")
	x.call("PUT", "/api/recurring/a%00b", `{"kind":"note","spec":"@daily"}`, nil).wants(t, 404)
	x.call("POST", "/api/recurring/stands/run", `{"x":1}`, nil).wants(t, 400, `x\": unknown`)
	x.call("DELETE", "/api/recurring/stands", "", nil).wants(t, 405, "GET, HEAD, PUT")
	if after := x.picture(); after != before {
		t.Errorf("bad bodies changed something: %s, then %s", before, after)
	}
}
