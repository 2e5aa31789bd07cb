package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/web"
)

// Paths that need no login must not lead anywhere else, however they are written.
func TestPathTricks(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/ops/jobs"} {
		x := open(t, settings{prefix: prefix, options: web.Options{Access: web.Basic(map[string]string{"ada": "password"}), Environment: "canary-environment"}})
		id := x.enqueue(note{Text: "canary-text"})
		job := fmt.Sprintf("/jobs/%d", id)
		for _, path := range []string{
			"/healthz/.." + job, "/healthz/../jobs", "//healthz", "//jobs", "/healthz/..%2fjobs", "/healthz/%2e%2e" + job, "/%68ealthz/../jobs",
			"/healthz;" + job, "/healthz%00", "/healthz%2f.." + job, "/./healthz/." + job, "/static/.." + job, "/static/..%2f..%2fjobs",
			"/static/../../../etc/passwd", "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/HEALTHZ/../jobs", `/healthz\..\jobs`, `/static/..\..\jobs`,
			"/healthz/" + job, "/readyz" + job, "/healthz?x=/../jobs", "/healthz#" + job, job + "/healthz", job + "?/healthz", job + ";/healthz", job + "%3f/healthz",
			"/live?view=/healthz", "/jobs/export?format=csv",
		} {
			for _, target := range []string{prefix + path, "http://127.0.0.1" + prefix + path, "http://ada@127.0.0.1" + prefix + path} {
				status, body := x.raw("GET " + target + " HTTP/1.1\r\nHost: " + x.host + "\r\nConnection: close\r\n\r\n")
				if strings.Contains(body, "canary") || strings.Contains(body, "note") || strings.Contains(body, "root:") {
					t.Errorf("%s: %d leaks %s", target, status, body)
				}
				if status == 200 && !strings.HasPrefix(path, "/healthz?") && !strings.HasPrefix(path, "/healthz#") {
					t.Errorf("%s: %d %s", target, status, body)
				}
			}
		}
	}
}

// What is too large or malformed is refused in the same calm way, logged once, and
// nothing of it comes back.
func TestOversizedAndMalformed(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	head := "GET / HTTP/1.1\r\nHost: " + x.host + "\r\nConnection: close\r\n"
	for range 3 {
		for want, text := range map[int]string{
			431: head + "X-Canary: " + strings.Repeat("canary", 5000) + "\r\n\r\n",
			413: "POST /jobs/act HTTP/1.1\r\nHost: " + x.host + "\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n" + strings.Repeat("canary", 500_000),
		} {
			status, body := x.raw(text)
			if status != want || strings.Contains(body, "canary") {
				t.Errorf("status %d, want %d: %s", status, want, clip(body))
			}
		}
		if status, body := x.raw("canary\r\n\r\n"); status == 200 || strings.Contains(body, "canary") {
			t.Errorf("no HTTP: %d %s", status, body)
		}
	}
	log := x.log.String()
	if n := strings.Count(log, "dashboard: refused"); n < 2 || n > 3 || strings.Contains(log, "canary") {
		t.Errorf("%d lines, want one for each kind: %s", n, log)
	}
	for _, cookie := range []string{
		"tekrar_token=\"><script>canary()</script>", "tekrar_token=<script>canary</script>26", "tekrar_theme=\"><canary", "tekrar_notice=canary!!", "tekrar_notice=eyJkIjoiPGNhbmFyeT4ifQ",
		"tekrar_notice=" + strings.Repeat("A", 4000), ";;;=;canary", "tekrar_token", "tekrar_token=" + strings.Repeat("A", 8000), "\x01\x02=canary",
	} {
		status, body := x.raw(head + "Accept: text/html\r\nCookie: " + cookie + "\r\n\r\n")
		if status != 200 && status != 400 || strings.Contains(body, "canary") {
			t.Errorf("cookie %.60q: status %d, or it comes back", cookie, status)
		}
	}
}

// SEC-11, SEC-12: every answer carries the headers, refusals too.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"ada": "password"})}})
	for _, path := range []string{"/", "/jobs", "/nothing", "/healthz", "/static/none"} {
		a := x.get(path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy": "camera=()", "Cache-Control": "no-store",
		} {
			if got := a.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if s := a.Header.Get("Server"); s != "" {
			t.Errorf("%s names the server: %s", path, s)
		}
	}
}
