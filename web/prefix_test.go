package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/tekrar/tekrar/web"
)

var addresses = regexp.MustCompile(`(?:href|src|action|formaction|data-live|content)="(/[^"]*)"`)

// LIV-01: under a prefix every address of every page carries it.
func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, mount, external string }{
		{"root", "", ""}, {"root", "/", ""}, {"plain", "/ops/jobs", ""}, {"slashes", "ops/jobs/", ""},
		{"stripping proxy", "", "/ops/jobs"}, {"adding proxy", "/inner", "/"},
	} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %s own=%v", c.name, c.mount, own), func(t *testing.T) {
				t.Parallel()
				s := settings{prefix: c.mount, options: web.Options{Access: web.None(), Demo: demo, ExternalPrefix: c.external}}
				if !own {
					s.fiber = &fiber.Config{}
				}
				x := open(t, s)
				x.prefix = "/" + strings.Trim(c.mount, "/")
				seen := "/" + strings.Trim(c.mount, "/")
				if c.external != "" {
					seen = c.external
				}
				seen = strings.TrimSuffix(seen, "/")
				if x.prefix == "/" {
					x.prefix = ""
				}
				id := strconv.FormatInt(x.enqueue(note{}), 10)
				found := 0
				check := func(a answer) {
					for _, m := range addresses.FindAllStringSubmatch(a.body, -1) {
						found++
						if !strings.HasPrefix(m[1], seen+"/") || strings.Contains(m[1], "//") {
							t.Errorf("%s: address %q", a.Request.URL, m[1])
						}
					}
					if to := a.Header.Get("Location"); to != "" && !strings.HasPrefix(to, seen+"/") {
						t.Errorf("%s: sent to %q", a.Request.URL, to)
					}
					for _, cookie := range a.Cookies() {
						if cookie.Path != seen+"/" {
							t.Errorf("%s: cookie %v", a.Request.URL, cookie)
						}
					}
				}
				for _, path := range []string{"/", "/jobs", "/jobs/", "/jobs/" + id, "/attempts", "/queues", "/queues/default", "/servers", "/demo", "/nothing", "/jobs?state=x"} {
					check(x.get(path))
				}
				if x.prefix != "" {
					check(x.get("").wants(t, 200))
				}
				check(x.post("/jobs/confirm", url.Values{"do": {"delete"}, "target": {id + ":enqueued"}}).wants(t, 200))
				check(x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {id + ":enqueued"}}).wants(t, 303))
				check(x.post("/queues/act", url.Values{"do": {"pause"}, "queue": {"q"}}).wants(t, 303))
				check(x.post("/demo/enqueue", url.Values{"card": {"note"}}).wants(t, 303))
				check(x.post("/theme", url.Values{"theme": {"dark"}, "back": {seen + "/jobs?state=failed"}}).wants(t, 303))
				if found < 100 {
					t.Errorf("only %d addresses found", found)
				}
			})
		}
	}
}

func TestCleanPrefix(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "/": "", "jobs": "/jobs", "/jobs/": "/jobs", "//a/b//": "/a/b"} {
		if got, err := web.CleanPrefix(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"/a//b", "/a/../b", "/:id", "/*", "/a b", "/a?b", "/a%2Fb", `/a"b`} {
		if got, err := web.CleanPrefix(bad); err == nil {
			t.Errorf("%q becomes %q", bad, got)
		}
	}
}

// A group knows its own path, so links under it are right without a word.
func TestGroup(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	app := fiber.New()
	d, err := web.Mount(app.Group("/team"), "/jobs", x.client, web.Options{Access: web.None(), Logger: x.quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	if got := d.Prefix(); got != "/team/jobs" {
		t.Errorf("prefix %q", got)
	}
}

// SEC-12: assets are kept for ever under names that change with their content.
func TestAssets(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"a": "b"})}})
	names := regexp.MustCompile(`/static/[^"]+`).FindAllString(x.get("/").body, -1)
	if len(names) < 3 {
		t.Fatalf("assets %v", names)
	}
	for _, name := range names {
		plain := x.do("GET", name, nil, nil).wants(t, 200)
		zipped := x.do("GET", name, nil, headers{"Accept-Encoding": "br, gzip"}).wants(t, 200)
		if !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") || zipped.Header.Get("Content-Encoding") != "gzip" ||
			plain.Header.Get("Content-Encoding") != "" || len(zipped.body) >= len(plain.body) && len(plain.body) > 1000 {
			t.Errorf("%s: %v, zipped %v", name, plain.Header, zipped.Header)
		}
	}
}
