package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"github.com/tekrar/tekrar/web"
)

// listen takes the address of the dashboard and says in one sentence why it cannot.
func listen(addr string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	var dns *net.DNSError
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is taken by another program: stop that one, or choose another with --addr (port 0 takes a free one)", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("address %s is no address of this machine: choose another with --addr", addr)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("address %s may not be used by this user: choose a port of 1024 or more with --addr", addr)
	case errors.As(err, &dns):
		return nil, fmt.Errorf("address %s: host %q is unknown: choose another with --addr", addr, dns.Name)
	}
	return nil, fmt.Errorf("listen on %s: %w", addr, err)
}

// access turns the settings into a decision. Without one only the demo goes on, and
// only where nobody else can reach it.
func access(c config, at net.Addr, demo bool) (web.Access, error) {
	tcp, ok := at.(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	auth := c.auth
	if auth == "" && demo && loopback {
		auth = "none"
	}
	switch {
	case auth == "none" && !loopback:
		return web.Access{}, usagef("--auth none serves loopback only, and %s can be reached from elsewhere: use --auth basic with TEKRAR_PASSWORD", c.addr)
	case auth == "none":
		return web.None(), nil
	case auth == "basic" && c.password == "":
		return web.Access{}, usagef("--auth basic needs TEKRAR_PASSWORD, at least 8 bytes")
	case auth == "basic":
		return web.Basic(map[string]string{c.user: c.password}), nil
	case demo:
		return web.Access{}, usagef("%s can be reached from elsewhere: use --auth basic with TEKRAR_PASSWORD", c.addr)
	}
	return web.Access{}, usagef("--auth is needed: basic (with TEKRAR_PASSWORD), or none on a loopback address")
}

// address is where a browser on this machine finds the dashboard.
func browserURL(at net.Addr, prefix string) string {
	return "http://" + nearby(at.String()) + prefix + "/"
}
