package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthcheck asks a program on this machine whether it is alive: for containers
// whose image has no other program. It needs no login.
func healthcheck(fs *flag.FlagSet) action {
	asJSON := fs.Bool("json", false, "one JSON object: url, healthy")
	return func(ctx context.Context, p *program, c config, _ []string) error {
		url, err := askHealth(ctx, c)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(p.stdout, map[string]any{"url": url, "healthy": true})
		}
		_, err = fmt.Fprintln(p.stdout, "healthy")
		return err
	}
}

func askHealth(ctx context.Context, c config) (url string, err error) {
	url = "http://" + nearby(c.addr) + c.prefix + "/healthz"
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return url, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return url, fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return url, fmt.Errorf("%s answered %s", url, resp.Status)
	}
	return url, nil
}

// nearby turns an address to listen on into one to call on this machine.
func nearby(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
