package web

import (
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
)

// forwardingHeaders betray a proxy between the person and us.
var forwardingHeaders = []string{
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
	"X-Forwarded-Server", "X-Forwarded-Prefix", "X-Real-Ip", "Via", "True-Client-Ip", "Cf-Connecting-Ip",
	"X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Host", "X-Original-Forwarded-For",
}

// notLocal refuses a request that may not be served without a login.
func notLocal(c *fiber.Ctx) (why refusal, yes bool) {
	for _, name := range forwardingHeaders {
		if len(c.Request().Header.Peek(name)) > 0 {
			return refuse(fiber.StatusForbidden, "This dashboard runs without a login and serves this machine only, but the request came through a proxy (%s). Start it with a login.", name), true
		}
	}
	if !loopbackAddr(c.Context().RemoteAddr()) || !loopbackAddr(c.Context().LocalAddr()) {
		return refuse(fiber.StatusForbidden, "This dashboard runs without a login and serves this machine only. Start it with a login to reach it from elsewhere."), true
	}
	if !loopbackHost(string(c.Request().Header.Host())) {
		return refuse(fiber.StatusForbidden, "This dashboard runs without a login and answers only to localhost, 127.0.0.1 and [::1], not to the host name of this request."), true
	}
	return refusal{}, false
}

func loopbackAddr(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// loopbackHost takes a Host header. Only names that cannot be pointed elsewhere count.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// keep copies a string out of the request: on an app without Immutable its bytes
// are the next request's once the handler has returned.
func keep(s string) string { return utils.CopyString(s) }
