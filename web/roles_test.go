package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/web"
)

// byHeader takes the role from a header of the test.
func byHeader() web.Access {
	return web.Authorize(func(c *fiber.Ctx) (string, web.Role, error) {
		if c.Get("X-Role") == "" {
			return "", 0, fiber.ErrUnauthorized
		}
		role, err := web.ParseRole(c.Get("X-Role"))
		return "eve", role, err
	})
}

// needs says which role a route takes: a new one is an operator's unless it only
// looks, and whoever adds another exception says so here.
func needs(r web.Route) web.Role {
	switch {
	case slices.Contains([]string{"/static/:name", "/healthz", "/readyz"}, r.Path):
		return 0
	case r.Path == "/claims-purge":
		return web.Admin
	case r.Path == "/recurring-new" || r.Path == "/jobs/:id/copy":
		return web.Operator
	case r.Path == "/theme" || r.Path == "/jobs/views" || r.Method == "GET":
		return web.Viewer
	}
	return web.Operator
}

// SEC-07: every route for every role, straight from the table.
func TestEveryRouteForEveryRole(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: byHeader(), Demo: demo}})
	before, tried := x.picture(), 0
	for _, r := range web.Routes() {
		path := strings.NewReplacer(":id", "1", ":name", "x", "*", "default").Replace(r.Path)
		for role := web.Role(0); role <= web.Admin; role++ {
			tried++
			h := headers{"Sec-Fetch-Site": "same-origin"}
			if role > 0 {
				h["X-Role"] = role.String()
			}
			var a answer
			if r.Method == "GET" {
				a = x.do(r.Method, path, nil, h)
			} else {
				a = x.do(r.Method, path, map[string][]string{"do": {""}}, h)
			}
			refused := a.StatusCode == 401 || a.StatusCode == 403
			if want := role < needs(r); refused != want || a.StatusCode >= 500 {
				t.Errorf("%s %s as %q: status %d", r.Method, r.Path, role, a.StatusCode)
			}
			if role == 0 && needs(r) > 0 && a.StatusCode != 401 {
				t.Errorf("%s %s as nobody: status %d", r.Method, r.Path, a.StatusCode)
			}
		}
	}
	if after := x.picture(); after != before || tried < 100 {
		t.Errorf("%d calls; database before %s, after %s", tried, before, after)
	}
	x.do("POST", "/claims-purge", nil, headers{"Sec-Fetch-Site": "same-origin", "X-Role": "operator"}).wants(t, 403, "operator", "admin")
	x.do("GET", "/", nil, headers{"X-Role": "root"}).wants(t, 403)
}

// What a role may not do it is not offered.
func TestPurgeIsOfferedToAdminsOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: byHeader()}})
	jobs.Handle(x.client, x.claims().RunPurge)
	x.work()
	offered := func(role string) bool {
		return strings.Contains(x.do("GET", "/claims", nil, headers{"X-Role": role}).wants(t, 200).body, `value="dry"`)
	}
	x.until("a server handles purges", func() bool { return offered("admin") })
	for _, role := range []string{"operator", "viewer"} {
		if offered(role) {
			t.Errorf("a purge is offered to the role %s", role)
		}
	}
}
