package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/tekrar/tekrar/jobs"
)

// Limits of the program's own server.
const (
	readTimeout = 15 * time.Second
	idleTimeout = 75 * time.Second
	bodyLimit   = 2 << 20
	headerLimit = 16 << 10 // the address of a live socket names up to 50 rows
)

// Server is the dashboard with a Fiber app and a listener of its own, for programs
// that have none.
type Server struct {
	*Dashboard
	app      *fiber.App
	listener net.Listener
}

// Listen opens addr ("127.0.0.1:8080"; port 0 takes a free one) and mounts the
// dashboard under prefix. Serve answers requests. With None, addr must be loopback.
// Passwords on another address, without TLS and without a trusted proxy, are warned
// of in the log.
func Listen(addr, prefix string, client *jobs.Client, o Options) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	s, err := NewServer(listener, prefix, client, o)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return s, nil
}

// NewServer is Listen on a listener that is open already; it is the server's from
// then on, unless there is an error.
func NewServer(listener net.Listener, prefix string, client *jobs.Client, o Options) (*Server, error) {
	if o.Access.loopback && !loopbackAddr(listener.Addr()) {
		return nil, fmt.Errorf("listen on %s: without a login only a loopback address is allowed, such as 127.0.0.1:8080", listener.Addr())
	}
	var d *Dashboard
	app := fiber.New(fiber.Config{
		Immutable: true, DisableStartupMessage: true, ServerHeader: "",
		ReadTimeout: readTimeout, IdleTimeout: idleTimeout, BodyLimit: bodyLimit, ReadBufferSize: headerLimit,
		ErrorHandler: func(c *fiber.Ctx, err error) error { return d.plainError(c, err) },
	})
	var err error
	if d, err = Mount(app, prefix, client, o); err != nil {
		return nil, err
	}
	if passwordsInClear(o.Access, listener) {
		d.log.Warn("dashboard: passwords can be read on the network: it answers without TLS and knows no proxy that adds it; listen on loopback, or name the proxy in front (trusted proxies)", "address", listener.Addr().String())
	}
	return &Server{Dashboard: d, app: app, listener: listener}, nil
}

// passwordsInClear reports that logins come from elsewhere and, as far as can be
// known here, without TLS. crypto/tls does not export the type of its listener.
func passwordsInClear(a Access, l net.Listener) bool {
	return a.basic && !a.proxied && !loopbackAddr(l.Addr()) && fmt.Sprintf("%T", l) != "*tls.listener"
}

// Addr is where the server listens, with the port that was taken.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests until Shutdown.
func (s *Server) Serve() error { return s.app.Listener(s.listener) }

// Shutdown ends live sockets first, because Fiber's own shutdown does not know
// them, then stops taking requests and waits for those that run, until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	err := errors.Join(s.Close(ctx), s.app.ShutdownWithContext(ctx))
	// Before Serve has begun, Fiber knows no listener and leaves it open.
	if closing := s.listener.Close(); !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return err
}

// plainError answers what never reached a route: too large a body or header, or a
// path outside the prefix.
func (d *Dashboard) plainError(c *fiber.Ctx, err error) error {
	setHeaders(c)
	// Not the error's own words: they repeat what was sent.
	status := fiber.StatusInternalServerError
	var known *fiber.Error
	if errors.As(err, &known) {
		status = known.Code
	}
	text := strings.ToLower(utils.StatusMessage(status))
	d.refused.note(c, text)
	if strings.HasPrefix(c.Path(), d.prefix+"/api/") {
		return (&request{Ctx: c, d: d}).problem(refusal{status: status}, err)
	}
	return c.Status(status).SendString(text + "\n")
}
