//go:build !linux && !darwin

package pgtemp

import (
	"context"
	"errors"
	"sync"
)

// Server cannot run on this system.
type Server struct {
	dir, socket string
	shared      bool
	mu          sync.Mutex
	done        chan struct{}
}

var errSystem = errors.New("a private Postgres runs on Linux and macOS only: set DATABASE_URL to a running server")

// Start says that DATABASE_URL is needed on this system.
func Start(context.Context, Config) (*Server, error) { return nil, errSystem }

// PID is 0 on this system.
func (s *Server) PID() int { return 0 }

// Binary finds nothing on this system but what is in PATH.
func (s *Server) Binary(name string) string { return name }

// Restart does nothing on this system.
func (s *Server) Restart(context.Context) error { return errSystem }

// Halt does nothing on this system.
func (s *Server) Halt(context.Context) error { return errSystem }

// Crash does nothing on this system.
func (s *Server) Crash(context.Context) error { return errSystem }

// Stop does nothing on this system.
func (s *Server) Stop(context.Context) error { return nil }
