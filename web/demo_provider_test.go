package web_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/web"
)

// madeUp is a provider page with one choice and one number.
func madeUp() (*web.Provider, map[string]string) {
	stands, who := map[string]string{"drop": "", "life": "60"}, ""
	return &web.Provider{
		Title: "The mail provider", Lead: "It honours keys.",
		Switches: func() []web.Switch {
			return []web.Switch{{Name: "drop", Label: "Drop it", Value: stands["drop"], Choice: true}, {Name: "life", Label: "Key life, s", Value: stands["life"]}}
		},
		Turn: func(actor string, typed map[string]string) error {
			if typed["life"] == "0" {
				return errors.New("life is \"0\", must be 1 to 60")
			}
			stands["drop"], stands["life"], who = typed["drop"], typed["life"], actor
			return nil
		},
		Turned: func() (string, time.Time) {
			if who == "" {
				return "", time.Time{}
			}
			return who, time.Date(2026, 1, 31, 9, 15, 0, 0, time.UTC)
		},
		LookUp: func(key string) string { return "nothing came with " + key },
		Log: func() web.Report {
			return web.Report{Title: "Its log", Lead: "Newest first.", Head: []string{"At"}, Rows: []web.ReportRow{{Cells: []string{"<b>09:15:00"}}}}
		},
	}, stands
}

// The page works without script: forms, a redirect, and what was typed is kept.
func TestDemoProvider(t *testing.T) {
	t.Parallel()
	provider, stands := madeUp()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None(), Demo: &web.Demo{Cards: demo.Cards, Provider: provider}}})
	x.get("/demo").wants(t, 200, `href="/ops/demo/provider"`, "The mail provider")
	a := x.get("/demo/provider").wants(t, 200, "It honours keys.", `name="drop"`, `value="60"`, `action="/ops/demo/provider-turn"`, "Newest first.", "&lt;b&gt;09:15:00", `href="/ops/demo"`)
	if strings.Contains(a.body, "Turned by") || strings.Contains(a.body, `value="1" checked`) {
		t.Error("a fresh page says that its switches were turned")
	}
	if to := x.post("/demo/provider-turn", url.Values{"drop": {"1"}, "life": {"5"}}).wants(t, 303).Header.Get("Location"); to != "/ops/demo/provider" {
		t.Errorf("sent to %q", to)
	}
	if stands["drop"] != "1" || stands["life"] != "5" {
		t.Errorf("switches stand at %v", stands)
	}
	x.get("/demo/provider").wants(t, 200, `value="1" checked`, `value="5"`, "Turned by local at 09:15:00 UTC.")
	x.post("/demo/provider-turn", url.Values{"life": {"0"}}).wants(t, 400, "Nothing was turned.", "must be 1 to 60", `value="0"`)
	x.post("/demo/provider-turn", url.Values{"life": {"\xff"}}).wants(t, 400, "UTF-8")
	if stands["drop"] != "1" || stands["life"] != "5" {
		t.Errorf("a refused form turned them to %v", stands)
	}
	x.get("/demo/provider?key=a%3Cb").wants(t, 200, "nothing came with a&lt;b")
	x.get("/demo/provider?keys=a").wants(t, 400, "Unknown filter")
	x.do("POST", "/ops/demo/provider-turn", url.Values{"life": {"1"}}, headers{"Sec-Fetch-Site": "cross-site"}).wants(t, 403)
	x.do("GET", "/ops/demo/provider-turn", nil, nil).wants(t, 405)
}

func TestDemoProviderIsNotForEverybody(t *testing.T) {
	t.Parallel()
	provider, stands := madeUp()
	eve := web.Authorize(func(*fiber.Ctx) (string, web.Role, error) { return "eve", web.Viewer, nil })
	x := open(t, settings{options: web.Options{Access: eve, Demo: &web.Demo{Cards: demo.Cards, Provider: provider}}})
	if a := x.get("/demo/provider").wants(t, 200, "It honours keys."); strings.Contains(a.body, "Turn the switches") {
		t.Error("a viewer is offered the button")
	}
	x.post("/demo/provider-turn", url.Values{"life": {"1"}}).wants(t, 403, "viewer")
	if stands["life"] != "60" {
		t.Error("a viewer turned a switch")
	}
	without := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	without.get("/demo/provider").wants(t, 404)
	without.post("/demo/provider-turn", url.Values{}).wants(t, 404)
	if a := without.get("/demo"); strings.Contains(a.body, "/demo/provider") {
		t.Error("the Demo page leads to a provider that is not there")
	}
}
