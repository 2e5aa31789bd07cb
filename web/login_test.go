package web_test

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/tekrar/tekrar/web"
)

// hashOf is a cheap bcrypt hash.
func hashOf(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func basicAuth(user, password string) headers {
	return headers{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
}

func team(t *testing.T, trusted ...netip.Prefix) web.Access {
	t.Helper()
	a, err := web.BasicUsers([]web.User{
		{Name: "vera", Hash: hashOf(t, "vera's password"), Role: web.Viewer},
		{Name: "otto", Hash: hashOf(t, "otto's: password"), Role: web.Operator},
		{Name: "ada", Hash: hashOf(t, strings.Repeat("a", 72)), Role: web.Admin},
	}, trusted...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestBasicUsers(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: team(t)}})
	x.get("/").wants(t, 401)
	x.do("GET", "/", nil, basicAuth("vera", "vera's password")).wants(t, 200, "vera", "viewer")
	x.do("GET", "/", nil, basicAuth("otto", "otto's: password")).wants(t, 200, "otto", "operator")
	x.do("GET", "/", nil, basicAuth("ada", strings.Repeat("a", 72))).wants(t, 200, "admin")
	for _, h := range []headers{
		basicAuth("vera", "otto's: password"), basicAuth("vera", ""), basicAuth("Vera", "vera's password"), basicAuth("nobody", "x"),
		basicAuth("ada", strings.Repeat("a", 73)), // bcrypt itself would look at 72 bytes only
		{"Authorization": "Basic"}, {"Authorization": "Basic !!!"}, {"Authorization": "Basic dmVyYQ=="},
		{"Authorization": "Bearer " + strings.Repeat("x", 5000)},
	} {
		x.do("GET", "/", nil, h).wants(t, 401)
	}
}

// Guessing ends after ten wrong passwords, is logged once, and locks nobody out who
// has signed in from there.
func TestWrongPasswordsAreLimited(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: team(t)}})
	x.do("GET", "/", nil, basicAuth("vera", "vera's password")).wants(t, 200)
	for i := range 10 {
		// Another address in a header nobody vouches for helps nothing.
		h := basicAuth("otto", fmt.Sprintf("hunter-%d", i))
		h["X-Forwarded-For"] = fmt.Sprintf("192.0.2.%d", i)
		x.do("GET", "/", nil, h).wants(t, 401)
	}
	a := x.do("GET", "/", nil, basicAuth("otto", "otto's: password")).wants(t, 429, "Too many wrong passwords")
	turkish := basicAuth("otto", "otto's: password")
	turkish["Cookie"] = "tekrar_language=tr"
	// Lengths of time are said as everywhere on the screen, in the reader's language.
	for body, wait := range map[string]string{
		a.body: `Try again in \d+\.\d s\.`, x.do("GET", "/", nil, turkish).wants(t, 429).body: `Yeniden denemeden önce bekle: \d+,\d sn\.`,
	} {
		if !regexp.MustCompile(wait).MatchString(body) {
			t.Errorf("no %s in\n%s", wait, clip(body))
		}
	}
	if s := a.Header.Get("Retry-After"); s == "" || s == "0" {
		t.Errorf("Retry-After is %q", s)
	}
	x.do("GET", "/", nil, basicAuth("vera", "vera's password")).wants(t, 200)
	x.get("/healthz").wants(t, 200)
	log := x.log.String()
	if strings.Count(log, "wrong user or password") != 1 || strings.Count(log, "too many wrong passwords") != 1 || strings.Contains(log, "hunter") {
		t.Errorf("log: %s", log)
	}
}

// Behind a trusted proxy each client has its own allowance, and what it writes itself
// before the proxy's entry counts for nothing.
func TestWrongPasswordsBehindAProxy(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: team(t, netip.MustParsePrefix("127.0.0.0/8"))}})
	for i := range 10 {
		h := basicAuth("otto", "wrong")
		h["X-Forwarded-For"] = fmt.Sprintf("203.0.113.%d, 198.51.100.7", i)
		x.do("GET", "/", nil, h).wants(t, 401)
	}
	h := basicAuth("otto", "wrong")
	h["X-Forwarded-For"] = "198.51.100.7"
	x.do("GET", "/", nil, h).wants(t, 429)
	h["X-Forwarded-For"] = "198.51.100.8"
	x.do("GET", "/", nil, h).wants(t, 401)
}

func TestParseUsers(t *testing.T) {
	t.Parallel()
	h := hashOf(t, "password")
	all, err := web.ParseUsers("# team\n\n ada:" + h + ":admin\r\nvera:" + h + ":viewer")
	if err != nil || len(all) != 2 || all[0].Name != "ada" || all[0].Role != web.Admin || all[1].Role != web.Viewer {
		t.Fatalf("%+v, %v", all, err)
	}
	for text, word := range map[string]string{
		"":                       "no user",
		"ada:" + h:               "NAME:HASH:ROLE",
		"ada:" + h + ":root":     "viewer, operator or admin",
		"ada:" + h + ":":         "viewer, operator or admin",
		"\nada:plain-text:admin": "line 2: user \"ada\": the hash is no bcrypt hash",
		":" + h + ":admin":       "name",
		"a\x1bb:" + h + ":admin": "control",
		"ada:" + h + ":admin\nada:" + h + ":admin": "twice",
	} {
		if _, err := web.ParseUsers(text); err == nil || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), h) {
			t.Errorf("%q: %v, want %q and no hash", text, err, word)
		}
	}
	for _, bad := range []string{"seven77", strings.Repeat("x", 73)} {
		if _, err := web.HashPassword(bad); err == nil || !strings.Contains(err.Error(), "8 to 72") {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}
