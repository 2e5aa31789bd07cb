package web_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// seenAt is a loopback listener that says that it listens elsewhere.
type seenAt struct {
	net.Listener
	addr net.Addr
}

func (l seenAt) Addr() net.Addr { return l.addr }

// Who would send passwords over a network in clear is told once, at the start.
func TestPasswordsInClearAreWarnedOf(t *testing.T) {
	t.Parallel()
	hash, err := web.HashPassword("otto's password")
	if err != nil {
		t.Fatal(err)
	}
	basic := func(from ...netip.Prefix) web.Access {
		a, err := web.BasicUsers([]web.User{{Name: "otto", Hash: hash, Role: web.Viewer}}, from...)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	public := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	for name, c := range map[string]struct {
		access web.Access
		addr   net.Addr
		tls    bool
		warns  bool
	}{
		"public":         {basic(), public, false, true},
		"every address":  {basic(), &net.TCPAddr{IP: net.IPv6zero, Port: 8080}, false, true},
		"library, plain": {web.Basic(map[string]string{"ada": "password"}), public, false, true},
		"loopback":       {basic(), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, false, false},
		"TLS":            {basic(), public, true, false},
		"a proxy":        {basic(netip.MustParsePrefix("10.0.0.7/32")), public, false, false},
		"no passwords":   {byHeader(), public, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := store.Open("postgres://nobody@127.0.0.1:1/none", store.Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			client, err := jobs.New(db, jobs.Config{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var at net.Listener = seenAt{ln, c.addr}
			if c.tls {
				at = tls.NewListener(at, &tls.Config{})
			}
			log := &lockedWriter{}
			s, err := web.NewServer(at, "", client, web.Options{Access: c.access, Logger: slog.New(slog.NewTextHandler(log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Shutdown(t.Context())
			if n := strings.Count(log.String(), "passwords can be read on the network"); n != map[bool]int{true: 1}[c.warns] {
				t.Errorf("warned %d times: %s", n, log.String())
			}
		})
	}
}
