package web_test

import (
	"errors"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/web"
)

// claims are those of the site's database, made outside of jobs.
func (x *site) claims() *idempotency.Claims {
	x.t.Helper()
	c, err := idempotency.New(x.db, idempotency.Config{Logger: x.quiet(), Holder: "cron@host"})
	if err != nil {
		x.t.Fatal(err)
	}
	return c
}

// claimed makes a claim in a state; "stale" is one that had begun and whose holder
// is gone.
func (x *site) claimed(key, state string) store.Effect {
	x.t.Helper()
	out, err := x.claims().Claim(x.t.Context(), nil, idempotency.RawKey(key), idempotency.KeyLife(24*time.Hour, time.Minute))
	if err != nil || out.Result != idempotency.Held {
		x.t.Fatalf("claim %s: %+v, %v", key, out, err)
	}
	ctx, c := x.t.Context(), out.Claim
	if state != "claimed" && state != "released" {
		err = c.Begin(ctx)
	}
	switch state {
	case "unknown":
		err = errors.Join(err, c.Unknown(ctx, errors.New("no answer within 15 s")))
	case "done":
		err = errors.Join(err, c.Done(ctx, map[string]any{"reference": "msg-0001"}))
	case "released":
		err = errors.Join(err, c.Release(ctx, "connection refused"))
	case "stale":
		x.past(`update tekrar.effect_claims set stale_at = now() - interval '1 s' where key = $1`, key)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	return x.effect(key)
}

func (x *site) effect(key string) store.Effect {
	x.t.Helper()
	e, err := x.db.Effect(x.t.Context(), key)
	if err != nil {
		x.t.Fatal(err)
	}
	return e
}

func decided(do string, e store.Effect) url.Values {
	return url.Values{"do": {do}, "key": {e.Key}, "claim": {strconv.FormatInt(e.Token, 10)}, "seen": {e.State.String()}, "back": {"/claims"}}
}

// auditedClaim lists who did what to a claim, oldest first.
func (x *site) auditedClaim(key string) (list []string) {
	x.t.Helper()
	err := x.db.Select(&list, "select actor || ': ' || action from "+x.db.Schema()+".audit where detail->>'key' = $1 order by id", key)
	if err != nil {
		x.t.Fatal(err)
	}
	return list
}

func (x *site) said(a answer, text string) {
	x.t.Helper()
	a.wants(x.t, 303)
	cookie := a.Cookies()[len(a.Cookies())-1]
	x.do("GET", a.Header.Get("Location"), nil, headers{"Cookie": cookie.Name + "=" + cookie.Value}).wants(x.t, 200, text)
}

func TestClaimPages(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.get("/claims").wants(t, 200, "No claim yet", "No purge is on record", "claims-purge")
	x.get("/calls").wants(t, 200, "No provider call yet")
	x.get("/").wants(t, 200, "Unsettled claims", "every effect is known")
	for key, state := range map[string]string{"a:1": "claimed", "a:2": "begun", "a:3": "unknown", "a:4": "done", "a:5": "released", "a:6": "stale"} {
		x.claimed(key, state)
	}
	for path, want := range map[string][]string{
		"/claims":                {"a:1", "a:2", "a:3", "a:6", "begun, holder gone", "over its limit of 10 min", "limit 10 min, stale", "outside jobs", "cron@host", "<span>unsettled</span> <b>4</b>", "no answer within 15 s"},
		"/claims?tab=unknown":    {"a:3", "<b>1</b>", ">in 23 h</time>"},
		"/claims?tab=done":       {"a:4", "msg-0001"},
		"/claims?tab=released":   {"a:5", "connection refused"},
		"/claims/a:3":            {"unknown", "In doubt", "no answer within 15 s", "Mark delivered…", "Send again…", "One contender, cron@host"},
		"/claims/a:4":            {"Done", "msg-0001", "Send again…", "No call under this key"},
		"/claims/a:1":            {"claimed", "from the first send"},
		"/claims/a:6":            {"Reclaim…", "Mark not delivered…"},
		"/claims?key=a%3A3":      {"In doubt"},
		"/claims/a:3~g2":         nil,
		"/claims?tab=unsettled&": {"a:1"},
	} {
		if want == nil {
			if to := x.get(path).wants(t, 303).Header.Get("Location"); to != "/claims/a:3" {
				t.Errorf("%s: sent to %q", path, to)
			}
			continue
		}
		x.get(path).wants(t, 200, want...)
	}
	for _, path := range []string{"/claims/a:1", "/claims/a:2"} {
		if body := x.get(path).body; strings.Contains(body, `name="do"`) {
			t.Errorf("%s: a claim whose holder lives has a button", path)
		}
	}
	// LST-10: the tile, the tab and the list say the same.
	if body := x.get("/").wants(t, 200, "waiting for their holder or for you").body; !strings.Contains(body, `href="/claims?tab=unsettled" class="st-late"><span class="t-l">Unsettled claims</span> <span class="t-v">4</span>`) {
		t.Errorf("the tile:\n%s", clip(body))
	}
	if n := strings.Count(x.get("/claims").body, `data-part="row"`); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
	for path, status := range map[string]int{
		"/claims/none": 404, "/claims/none~g2": 303, "/claims/a/b": 404, "/claims/%ff": 404, "/claims/%00": 404, "/claims?tab=x": 400, "/claims?after=x": 400, "/claims?state=x": 400, "/claims?key=none": 404,
		"/claims/a:3?x=1": 400, "/calls?job=x": 400, "/calls?before=0": 400, "/calls?outcome=x": 400, "/calls?key=none": 200, "/calls?job=7": 200, "/claims-act": 405, "/claims-purge": 405,
		"/live?view=%2Fclaims%2Fnone": 404, "/live?view=%2Fclaims%3Ftab%3Dx": 400, "/live?view=%2Fcalls%3Fjob%3Dx": 400,
	} {
		x.get(path).wants(t, status)
	}
	if s := x.log.String(); strings.Contains(s, "request failed") || strings.Contains(s, "could not") {
		t.Errorf("log: %s", s)
	}
}

// Each decision, its step in between, its end state, its audit; and what comes too late.
func TestClaimDecisions(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for _, c := range []struct {
		from, do, ask, said, action string
		to                          store.EffectState
		generation                  int
	}{
		{"unknown", "delivered", "Mark as delivered", "Marked as delivered", "mark delivered", store.EffectDone, 1},
		{"unknown", "not-delivered", "The key becomes free", "Marked as not delivered", "mark not delivered", store.EffectReleased, 1},
		{"unknown", "again", "~g2", "To be sent again", "send again", store.EffectReleased, 2},
		{"done", "again", "generation 2", "To be sent again", "send again", store.EffectReleased, 2},
		{"released", "again", "A second effect on purpose", "To be sent again", "send again", store.EffectReleased, 2},
		{"stale", "reclaim", "becomes unknown", "Won:", "reclaim effect", store.EffectUnknown, 1},
		{"stale", "delivered", "Mark as delivered", "Marked as delivered", "mark delivered", store.EffectDone, 1},
	} {
		key := c.from + ":" + c.do
		e := x.claimed(key, c.from)
		before := x.picture()
		form := decided(c.do, e)
		x.post("/claims-confirm", form).wants(t, 200, c.ask, `name="note"`, "change nothing", `href="/claims"`)
		if after := x.picture(); after != before || x.effect(key).State != e.State {
			t.Errorf("%s: asking changed something: %s, then %s", key, before, after)
		}
		form.Set("note", "the customer called")
		x.said(x.post("/claims-act", form), c.said)
		now := x.effect(key)
		if now.State != c.to || now.Generation != c.generation {
			t.Errorf("%s: %s in generation %d, want %s in %d", key, now.State, now.Generation, c.to, c.generation)
		}
		if got := x.auditedClaim(key); !slices.Equal(got, []string{"local: " + c.action}) {
			t.Errorf("%s: audit %q", key, got)
		}
		if !strings.Contains(now.Reason+string(now.Receipt), "the customer called") {
			t.Errorf("%s: the note is lost: %q, %s", key, now.Reason, now.Receipt)
		}
		// The same press again, from the old screen.
		for _, path := range []string{"/claims-confirm", "/claims-act"} {
			title := "The claim moved meanwhile"
			if c.do == "reclaim" {
				title = "Lost: somebody else was faster"
			}
			x.post(path, form).wants(t, 409, title, `href="/claims/`+url.PathEscape(key)+`"`)
		}
		if got := x.auditedClaim(key); len(got) != 1 {
			t.Errorf("%s: what was refused is in the audit: %q", key, got)
		}
	}
	// Sent again is what was unknown, not what somebody has marked as delivered since:
	// the token is the same.
	e := x.claimed("raced", "unknown")
	x.post("/claims-act", decided("delivered", e)).wants(t, 303)
	x.post("/claims-act", decided("again", e)).wants(t, 409, "moved meanwhile")
	if now := x.effect("raced"); now.State != store.EffectDone || now.Generation != 1 {
		t.Errorf("raced: %+v", now)
	}
	// A live holder keeps its claim.
	live := x.claimed("live", "begun")
	for _, do := range []string{"reclaim", "delivered", "not-delivered", "again"} {
		x.post("/claims-confirm", decided(do, live)).wants(t, 409)
		x.post("/claims-act", decided(do, live)).wants(t, 409)
	}
	if now := x.effect("live"); now.State != store.EffectBegun || now.Token != live.Token {
		t.Errorf("live: %+v", now)
	}
}

// Of two people who reclaim at once one wins.
func TestOneOfTwoReclaimersWins(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	e := x.claimed("contended", "stale")
	answers := make(chan int, 8)
	for range cap(answers) {
		go func() { answers <- x.post("/claims-act", decided("reclaim", e)).StatusCode }()
	}
	count := map[int]int{}
	for range cap(answers) {
		count[<-answers]++
	}
	if count[303] != 1 || count[409] != cap(answers)-1 || x.effect("contended").Reclaims != 1 {
		t.Errorf("answers %v, reclaims %d", count, x.effect("contended").Reclaims)
	}
}

func TestBadClaimForms(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	e := x.claimed("k", "unknown")
	for _, path := range []string{"/claims-confirm", "/claims-act"} {
		for name, c := range map[string]struct {
			value  string
			status int
			text   string
		}{
			"do": {"drop", 400, "Known ones: reclaim"}, "key": {"", 400, "Field key"}, "claim": {"x", 400, "Field claim"}, "seen": {"gone", 400, "Field seen"},
		} {
			form := decided("delivered", e)
			form.Set(name, c.value)
			x.post(path, form).wants(t, c.status, c.text)
		}
		gone := decided("delivered", e)
		gone.Set("key", "none")
		x.post(path, gone).wants(t, 404)
		nul := decided("delivered", e)
		nul.Set("key", "a\x00")
		x.post(path, nul).wants(t, 400, "NUL")
	}
	x.post("/claims-purge", url.Values{"do": {"all"}}).wants(t, 400, "Known ones: dry, ask, run")
	x.post("/claims-purge", url.Values{"do": {"run"}}).wants(t, 409, "No server runs purges")
	if now := x.effect("k"); now.State != store.EffectUnknown || now.Token != e.Token {
		t.Errorf("%+v", now)
	}
}

// SEC-09: a key leads to that very claim and a decision is about it alone.
func TestOddClaimKeys(t *testing.T) {
	t.Parallel()
	for how, config := range map[string]*fiber.Config{"own server": nil, "unescaping": {UnescapePath: true, ReadBufferSize: 16 << 10}, "strict": {StrictRouting: true, CaseSensitive: true, ReadBufferSize: 16 << 10}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			oddClaimKeys(t, open(t, settings{prefix: "/ops/jobs", fiber: config, options: web.Options{Access: web.None()}}))
		})
	}
}

func oddClaimKeys(t *testing.T, x *site) {
	keys := []string{"a/b", "a b", "a+b", "100%", "?x=1", "#h", "%2F", "é✓", "🙂", `q"'<&>`, `a\b`, "..", "a/../b", "act", "~g2", strings.Repeat("long", 60), strings.Repeat("🙂", 60)}
	links := views.Links{Prefix: x.prefix}
	for _, key := range keys { // some are refused by claims.Claim, but may be in the table
		x.past(`insert into tekrar.effect_claims (key, state, effect_at, doubt_at, stale_at, stale_us, reason) values ($1, 3, now(), now(), now(), 0, 'odd')`, key)
		x.past(`insert into tekrar.provider_calls (provider, key, payload) values ('p', $1, $1)`, key)
	}
	list := x.get("/claims").wants(t, 200)
	for _, key := range keys {
		link := links.Claim(key)
		if !strings.Contains(list.body, `href="`+html.EscapeString(link)+`"`) || !strings.Contains(list.body, `id="`+views.ClaimRowID(key)+`"`) {
			t.Errorf("%q: no link or row in the list", key)
		}
		page := x.do("GET", link, nil, nil).wants(t, 200, `name="key" value="`+html.EscapeString(key)+`"`)
		if n := strings.Count(page.body, `value="delivered"`); n != 1 {
			t.Errorf("%q: %d buttons to mark it delivered", key, n)
		}
		x.openAsPage(strings.TrimPrefix(link, x.prefix)).Close()
		calls := x.do("GET", links.Calls(key, "", ""), nil, nil).wants(t, 200, "1 call,")
		if n := strings.Count(calls.body, `data-part="row"`); n != 1 {
			t.Errorf("%q: %d calls", key, n)
		}
		form := decided("delivered", x.effect(key))
		form.Set("back", link)
		if to := x.post("/claims-act", form).wants(t, 303).Header.Get("Location"); to != link {
			t.Errorf("%q: sent to %q, want %q", key, to, link)
		}
		for _, other := range keys {
			if state := x.effect(other).State; (state == store.EffectDone) != (other == key) {
				t.Errorf("deciding on %q: %q is %s", key, other, state)
			}
		}
		x.past(`update tekrar.effect_claims set state = 3 where key = $1`, key)
	}
}

// SEC-07: a viewer sees the pages without a button and may press none.
func TestViewerLeavesClaimsAlone(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Authorize(func(*fiber.Ctx) (string, web.Role, error) { return "eve", web.Viewer, nil })}})
	unknown, stale := x.claimed("u", "unknown"), x.claimed("s", "stale")
	before := x.picture()
	for _, do := range []string{"reclaim", "delivered", "not-delivered", "again", "dry", "ask", "run"} {
		for _, e := range []store.Effect{unknown, stale} {
			for _, path := range []string{"/claims-confirm", "/claims-act", "/claims-purge"} {
				x.post(path, decided(do, e)).wants(t, 403, "viewer")
			}
		}
	}
	for _, path := range []string{"/claims", "/claims/u", "/claims/s", "/calls"} {
		if body := x.get(path).wants(t, 200).body; strings.Contains(body, `name="do"`) {
			t.Errorf("%s offers an action", path)
		}
	}
	if u, s := x.effect("u"), x.effect("s"); x.picture() != before || u.State != unknown.State || s.Token != stale.Token {
		t.Error("a viewer changed something")
	}
}
