package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Proxy is a reverse proxy that signs people in and names them in a header.
type Proxy struct {
	// UserHeader names the person ("X-Remote-User"). The proxy must set it on every
	// request and remove what the browser sent under that name.
	UserHeader string
	// RoleHeader names viewer, operator or admin. Default "": everybody has Role.
	RoleHeader string
	// Role of those whom the proxy lets in when there is no RoleHeader. Default Viewer.
	Role Role
	// From are the addresses of the proxies. Requests from elsewhere are refused,
	// whatever their headers say.
	From []netip.Prefix
}

// reserved are headers that browsers fill in themselves.
var reserved = []string{"Host", "Cookie", "Authorization", "Origin", "Referer", "User-Agent", "Accept", "Connection", "Content-Type"}

var errNotTheProxy = errors.New("the request does not come from a trusted proxy")

// ProxyHeader believes a proxy who a request comes from.
func ProxyHeader(p Proxy) (Access, error) {
	if p.Role == 0 {
		p.Role = Viewer
	}
	if p.Role < Viewer || p.Role > Admin {
		return Access{}, fmt.Errorf("web: Proxy.Role: %d is no role", p.Role)
	}
	if len(p.From) == 0 {
		return Access{}, errors.New("web: Proxy.From: must name the proxies: anybody could send the header")
	}
	for _, n := range p.From {
		if !n.IsValid() || n.Bits() == 0 {
			return Access{}, fmt.Errorf("web: Proxy.From: %s would trust everybody", n)
		}
	}
	for _, name := range []string{p.UserHeader, p.RoleHeader} {
		if name == "" && name == p.RoleHeader && p.UserHeader != "" {
			continue
		}
		if !isHeaderName(name) || slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, name) }) {
			return Access{}, fmt.Errorf("web: Proxy: %q must be the name of a header such as X-Remote-User", name)
		}
	}
	if strings.EqualFold(p.UserHeader, p.RoleHeader) {
		return Access{}, errors.New("web: Proxy: user and role need headers of their own")
	}
	return Access{identify: p.identify}, nil
}

func (p Proxy) identify(c *fiber.Ctx) (person, error) {
	if !within(p.From, peerAddr(c)) {
		return person{}, errNotTheProxy
	}
	name, err := single(c, p.UserHeader)
	if err != nil {
		return person{}, err
	}
	if err := checkName(name); err != nil {
		return person{}, fmt.Errorf("header %s: %w", p.UserHeader, err)
	}
	who := person{Name: name, Role: p.Role}
	if p.RoleHeader == "" {
		return who, nil
	}
	text, err := single(c, p.RoleHeader)
	if err == nil {
		who.Role, err = ParseRole(text)
	}
	return who, err
}

// single is the value of a header that must stand there once: a proxy that adds its
// own to the browser's has not removed that one.
func single(c *fiber.Ctx, name string) (string, error) {
	all := c.Request().Header.PeekAll(name)
	if len(all) != 1 {
		return "", fmt.Errorf("header %s: stands there %d times instead of once", name, len(all))
	}
	return string(all[0]), nil
}

func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
}

func peerAddr(c *fiber.Ctx) netip.Addr {
	if tcp, ok := c.Context().RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// clientAddr is the peer, or, when that is a trusted proxy, the last address in
// X-Forwarded-For that is none. What stands before it anybody can have written.
func clientAddr(c *fiber.Ctx, trusted []netip.Prefix) netip.Addr {
	at := peerAddr(c)
	var hops []string
	for _, line := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(line), ",")...)
	}
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if !within(trusted, at) || err != nil {
			break
		}
		at = next.Unmap()
	}
	return at
}

func within(networks []netip.Prefix, a netip.Addr) bool {
	return a.IsValid() && slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}
