package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
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

// browserURL is where a browser on this machine finds the dashboard.
func browserURL(at net.Addr, prefix string) string {
	return "http://" + nearby(at.String()) + prefix + "/"
}
