package main

import (
	"fmt"
	"net"
	"os"

	"github.com/tekrar/tekrar/web"
)

// access turns the settings into a decision. Without one only the demo goes on, and
// only where nobody else can reach it. Settings that contradict each other are refused:
// somebody believes in one of them.
func access(c config, at net.Addr, demo bool) (web.Access, error) {
	tcp, ok := at.(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	auth := c.auth
	if auth == "" && demo && loopback && !c.namesUsers() && c.proxyHeader == "" {
		auth = "none"
	}
	switch {
	case auth == "none" && !loopback:
		return web.Access{}, usagef("--auth none serves loopback only, and %s can be reached from elsewhere: use --auth basic with TEKRAR_PASSWORD or --users-file", c.addr)
	case auth == "none" && (c.namesUsers() || c.proxyHeader != ""):
		return web.Access{}, usagef("--auth none contradicts users, a password or --proxy-header: leave those away, or choose --auth basic or proxy-header")
	case auth == "none":
		return web.None(), nil
	case auth == "basic":
		return basicAccess(c)
	case auth == "proxy-header":
		return proxyAccess(c)
	case demo:
		return web.Access{}, usagef("%s needs a decision who may use it: --auth basic with TEKRAR_PASSWORD or --users-file, or --auth proxy-header", c.addr)
	}
	return web.Access{}, usagef("--auth is needed: basic (with TEKRAR_PASSWORD or --users-file), proxy-header, or none on a loopback address")
}

// namesUsers reports that somebody set up passwords.
func (c config) namesUsers() bool { return c.password != "" || c.users != "" || c.usersFile != "" }

func basicAccess(c config) (web.Access, error) {
	given := 0
	for _, one := range []string{c.password, c.users, c.usersFile} {
		if one != "" {
			given++
		}
	}
	switch {
	case c.proxyHeader != "":
		return web.Access{}, usagef("--proxy-header contradicts --auth basic: choose --auth proxy-header, or leave it away")
	case given == 0:
		return web.Access{}, usagef("--auth basic needs TEKRAR_PASSWORD (at least 8 bytes), TEKRAR_USERS or --users-file")
	case given > 1:
		return web.Access{}, usagef("TEKRAR_PASSWORD, TEKRAR_USERS and --users-file contradict each other: set one of them")
	}
	var users []web.User
	var err error
	where := "TEKRAR_USERS"
	switch {
	case c.password != "" && len(c.password) > 72:
		return web.Access{}, usagef("TEKRAR_PASSWORD: has %d bytes, must have 8 to 72", len(c.password))
	case c.password != "":
		hash, err := web.HashPassword(c.password)
		if err != nil {
			return web.Access{}, usagef("TEKRAR_PASSWORD: %v", err)
		}
		users = []web.User{{Name: c.user, Hash: hash, Role: web.Admin}}
	case c.usersFile != "":
		where = "--users-file " + c.usersFile
		users, err = readUsers(c.usersFile)
	default:
		users, err = web.ParseUsers(c.users)
	}
	if err != nil {
		return web.Access{}, usagef("%s: %v", where, err)
	}
	return web.BasicUsers(users, c.trustedProxies...)
}

// maxUsersFile is far above what a team needs.
const maxUsersFile = 1 << 20

func readUsers(name string) ([]web.User, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("is no file")
	case info.Size() > maxUsersFile:
		return nil, fmt.Errorf("has %d bytes; the limit is %d", info.Size(), maxUsersFile)
	case info.Mode().Perm()&0o002 != 0:
		return nil, fmt.Errorf("can be written by everybody on this machine: chmod o-w")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return web.ParseUsers(string(text))
}

func proxyAccess(c config) (web.Access, error) {
	switch {
	case c.namesUsers():
		return web.Access{}, usagef("--auth proxy-header contradicts users and passwords: the proxy signs people in")
	case c.proxyHeader == "":
		return web.Access{}, usagef("--auth proxy-header needs --proxy-header, the header in which the proxy names the user")
	case len(c.trustedProxies) == 0:
		return web.Access{}, usagef("--auth proxy-header needs --trusted-proxies: anybody could send the header")
	}
	role, err := web.ParseRole(c.proxyRole)
	if err != nil {
		return web.Access{}, usagef("--proxy-role: %v", err)
	}
	a, err := web.ProxyHeader(web.Proxy{UserHeader: c.proxyHeader, RoleHeader: c.proxyRoleHeader, Role: role, From: c.trustedProxies})
	if err != nil {
		return web.Access{}, usagef("--auth proxy-header: %v", err)
	}
	return a, nil
}
