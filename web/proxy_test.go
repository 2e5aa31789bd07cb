package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/web"
)

func proxied(t *testing.T, from, roleHeader string) web.Access {
	t.Helper()
	a, err := web.ProxyHeader(web.Proxy{UserHeader: "X-Remote-User", RoleHeader: roleHeader, Role: web.Operator, From: []netip.Prefix{netip.MustParsePrefix(from)}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestProxyNamesTheUser(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: proxied(t, "127.0.0.1/32", "")}})
	x.do("GET", "/", nil, headers{"x-remote-user": "ada@example.com"}).wants(t, 200, "ada@example.com", "operator")
	x.get("/healthz").wants(t, 200)
	for _, h := range []headers{{}, {"X-Remote-User": ""}, {"X-Remote-User": strings.Repeat("x", 201)}, {"X-Remote-User": "\xff"}, {"X-Remote-Users": "ada"}} {
		x.do("GET", "/", nil, h).wants(t, 403)
	}
	// A proxy that only adds its header has left the browser's there.
	status, body := x.raw("GET / HTTP/1.1\r\nHost: h\r\nX-Remote-User: admin\r\nX-Remote-User: eve\r\nConnection: close\r\n\r\n")
	if status != 403 || strings.Contains(body, "eve") {
		t.Errorf("two names: %d %s", status, body)
	}
	y := open(t, settings{options: web.Options{Access: proxied(t, "127.0.0.1/32", "X-Remote-Role")}})
	y.do("GET", "/", nil, headers{"X-Remote-User": "ada", "X-Remote-Role": "viewer"}).wants(t, 200, "viewer")
	for _, role := range []string{"", "root", "Admin", "viewer,admin"} {
		y.do("GET", "/", nil, headers{"X-Remote-User": "ada", "X-Remote-Role": role}).wants(t, 403)
	}
	y.do("GET", "/", nil, headers{"X-Remote-User": "ada"}).wants(t, 403)
}

// The header of anybody else counts for nothing, and is logged once.
func TestForgedProxyHeader(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: proxied(t, "192.0.2.1/32", "")}})
	for range 5 {
		x.do("GET", "/", nil, headers{"X-Remote-User": "admin", "X-Forwarded-For": "192.0.2.1", "X-Real-Ip": "192.0.2.1"}).wants(t, 403)
	}
	if log := x.log.String(); strings.Count(log, "not come from a trusted proxy") != 1 {
		t.Errorf("log: %s", log)
	}
}

func TestProxyThatTrustsEverybodyIsRefused(t *testing.T) {
	t.Parallel()
	some := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, p := range map[string]web.Proxy{
		"nobody named":  {UserHeader: "X-User"},
		"everybody":     {UserHeader: "X-User", From: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
		"zero prefix":   {UserHeader: "X-User", From: []netip.Prefix{{}}},
		"no header":     {From: some},
		"no name":       {UserHeader: "X User", From: some},
		"the browser's": {UserHeader: "host", From: some},
		"the same":      {UserHeader: "X-User", RoleHeader: "x-user", From: some},
		"no role":       {UserHeader: "X-User", Role: 9, From: some},
	} {
		if _, err := web.ProxyHeader(p); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// raw sends bytes as they are and reads one answer.
func (x *site) raw(text string) (status int, body string) {
	x.t.Helper()
	conn, err := net.Dial("tcp", x.host)
	if err != nil {
		x.t.Fatal(err)
	}
	defer conn.Close()
	go fmt.Fprint(conn, text) // a server that refuses early stops reading
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}
