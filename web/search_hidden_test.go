package web_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
	"github.com/tekrar/tekrar/web/redact"
)

// Somebody who guesses at a hidden value learns nothing from any search: it finds and
// excludes as if the value were not there. What is shown is found as ever.
func TestHiddenValuesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	rules, err := redact.New(append([]string{"customer.iban", "items.*.card"}, redact.DefaultKeys...)...)
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, settings{options: web.Options{Access: web.None(), Redact: rules}})
	raw, err := x.client.EnqueueRaw(t.Context(), "login", json.RawMessage(`{"user":"ada","password":"hunter2","pin":4711,"n":4712,
		"customer":{"iban":"TR330006","city":"Izmir"},"items":[{"card":"4242-4242","sku":"blue"}],"login":{"apiKeys":["k-deep"],"host":"mail"},"both":"hunter"}`))
	if err != nil {
		t.Fatal(err)
	}
	row := `id="job-row-` + itoa(raw.ID) + `"`
	finds := func(q string) bool {
		t.Helper()
		page := strings.Contains(x.get("/jobs?q="+url.QueryEscape(q)).wants(t, 200).body, row)
		api := x.call("GET", "/api/jobs?q="+url.QueryEscape(q), "", nil).wants(t, 200)
		export := x.get("/jobs/export?format=ndjson&q="+url.QueryEscape(q)).wants(t, 200)
		if strings.Contains(api.body, itoa(raw.ID)) != page || strings.Contains(export.body, itoa(raw.ID)) != page {
			t.Errorf("%s: page %v, API %s, download %s", q, page, clip(api.body), clip(export.body))
		}
		return page
	}
	for _, q := range []string{"hunter2", "unter2", "4711", "TR33", "4242", "k-deep", "deep", `"4242-4242"`} {
		for _, term := range []string{q, "args:" + q} {
			if finds(term) {
				t.Errorf("%s finds a hidden value", term)
			}
			if !finds("-" + term) {
				t.Errorf("-%s tells of a hidden value", term)
			}
		}
	}
	for _, q := range []string{"ada", "4712", "izmir", "BLUE", "mail", "hunter", "args:hunter", "args.user:ada", "args.n>4711", "args.items.0.sku:blue", "login"} {
		if !finds(q) || finds("-"+q) {
			t.Errorf("%s is not found", q)
		}
	}
	for _, path := range []string{"password", "pin", "customer.iban", "items.0.card", "items.-1.card", "login.apiKeys.0"} {
		x.get("/jobs?q="+url.QueryEscape("args."+path+":x")).wants(t, 400, "args."+path+" is hidden here")
	}
	// The text of an object would hold what is hidden in it.
	if finds(`args.customer:"{\"city\": \"Izmir\", \"iban\": \"TR330006\"}"`) {
		t.Error("a whole object is compared")
	}

	// An operation on everything that matches sees no more, whoever works it off.
	f := store.JobFilter{State: store.Enqueued}
	f.Hidden.Keys, f.Hidden.Paths = rules.Parts()
	if f.Query, err = store.ParseQuery("hunter2"); err != nil {
		t.Fatal(err)
	}
	id, err := x.client.StartBulk(t.Context(), "ada", jobs.Bulk{Action: "delete", Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Bulk
	x.until("operation done", func() bool {
		b, err = x.db.Bulk(t.Context(), id)
		return err == nil && b.State == store.BulkDone
	})
	if b.Done != 0 || x.state(raw.ID) != jobs.Enqueued {
		t.Errorf("an operation deleted %d jobs by a hidden value", b.Done)
	}
}

// A search and a page agree on what is hidden, for keys in every spelling. Outside of
// ASCII a search may hide more.
func TestSearchHidesWhatPagesHide(t *testing.T) {
	t.Parallel()
	rules, err := redact.New(append([]string{"top.*.x", "şifre_pin"}, redact.DefaultKeys...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, odd := range []bool{false, true} {
		list := rules
		if !odd {
			list = redact.Default()
		}
		x := open(t, settings{options: web.Options{Access: web.None(), Redact: list}})
		pieces := []string{"api", "Api", "API", "key", "Key", "keys", "KEY", "pin", "Pin", "PINs", "s", "x", "top", "_", "-", " ", ".", "2", "token", "shipping", "ID"}
		if odd {
			pieces = append(pieces, "şifre", "Şifre", "é", "€", "ßpin")
		}
		var items []jobs.Item
		var args []json.RawMessage
		random := rand.New(rand.NewPCG(1, 2))
		for len(items) < 1500 {
			doc := any("canary")
			for range 1 + random.IntN(3) {
				key := ""
				for range 1 + random.IntN(4) {
					key += pieces[random.IntN(len(pieces))]
				}
				doc = map[string]any{key: doc}
				if random.IntN(4) == 0 {
					doc = []any{doc}
				}
			}
			a, err := json.Marshal(map[string]any{"top": doc})
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, a)
			items = append(items, jobs.Item{Args: document{a}})
		}
		made, err := x.client.EnqueueMany(t.Context(), items)
		if err != nil {
			t.Fatal(err)
		}
		found := map[int64]bool{}
		f := store.JobFilter{State: store.Enqueued, Limit: 500}
		f.Hidden.Keys, f.Hidden.Paths = list.Parts()
		if f.Query, err = store.ParseQuery("args:canary"); err != nil {
			t.Fatal(err)
		}
		for more := true; more; more = !f.After.IsZero() {
			var rows []store.JobRow
			if rows, f.After, err = x.db.Jobs(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				found[r.ID] = true
			}
		}
		hidden := 0
		for i, m := range made {
			shown := strings.Contains(string(list.JSON(args[i])), "canary")
			if !shown {
				hidden++
			}
			if found[m.ID] && !shown || shown && !found[m.ID] && !odd {
				t.Errorf("%s: shown %v, found %v", args[i], shown, found[m.ID])
			}
		}
		if hidden < 100 || len(found) < 100 {
			t.Errorf("only %d hidden, %d found", hidden, len(found))
		}
	}
}

type document struct{ json.RawMessage }

func (document) Kind() string { return "document" }
