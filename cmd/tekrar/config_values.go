package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tekrar/tekrar/web/redact"
)

func databaseURL(s string) error {
	if s == "" || strings.Contains(s, "=") && !strings.Contains(s, "://") {
		return nil // key=value pairs; store reads them
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("must start with postgres:// or postgresql:// (or be key=value pairs)")
	}
	return nil
}

func address(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("must be host:port, such as 127.0.0.1:8080")
	}
	if _, err := number(port, 0, 65535); err != nil {
		return fmt.Errorf("the port %w", err)
	}
	return nil
}

func prefix(s string) error {
	if s != "" && !strings.HasPrefix(s, "/") || strings.ContainsAny(s, "?#% ") || strings.Contains(s, "//") {
		return errors.New("must be empty or start with / and hold no ?, #, % or blank")
	}
	return nil
}

func userName(s string) error {
	if strings.Contains(s, ":") {
		return errors.New("must hold no colon: basic authentication cannot send one")
	}
	return length(s, 1, 100)
}

func passwordLength(s string) error {
	if len(s) < 8 {
		return fmt.Errorf("has %d bytes, must have at least 8", len(s))
	}
	return nil
}

func length(s string, low, high int) error {
	if len(s) < low || len(s) > high {
		return fmt.Errorf("must have %d to %d bytes", low, high)
	}
	return nil
}

func oneOf(s string, known ...string) error {
	if slices.Contains(known, s) {
		return nil
	}
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" })
	return fmt.Errorf("must be one of %s", strings.Join(known, ", "))
}

func truth(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("must be true or false")
	}
	return b, nil
}

func number(s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("must be a whole number from %d to %d", low, high)
	}
	return n, nil
}

func rate(s string, low, high float64) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= low && f <= high) {
		return 0, fmt.Errorf("must be a number from %g to %g", low, high)
	}
	return f, nil
}

// networks reads addresses and networks; an address is a network of its own.
func networks(s string) (all []netip.Prefix, err error) {
	for one := range strings.SplitSeq(s, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		n, err := netip.ParsePrefix(one)
		if addr, single := netip.ParseAddr(one); single == nil {
			n, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no address or network such as 10.0.0.7 or 10.1.0.0/16", one)
		}
		all = append(all, n.Masked())
	}
	return all, nil
}

func redactRules(s string) (*redact.Rules, error) {
	switch s {
	case "":
		return redact.Default(), nil
	case "none":
		return redact.New()
	}
	var list []string
	for one := range strings.SplitSeq(s, ",") {
		list = append(list, strings.TrimSpace(one))
	}
	return redact.New(list...)
}

// webAddress is what the client itself asks of a webhook.
func webAddress(s string) error {
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		return errors.New("has to be a whole http:// or https:// address")
	}
	return nil
}
