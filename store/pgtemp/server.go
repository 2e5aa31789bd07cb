//go:build linux || darwin

package pgtemp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Server is a private Postgres server, started by this process or shared with
// the process that started it. Its methods may be called from any goroutine.
type Server struct {
	cfg Config
	dir string
	bin binaries
	as  account

	mu     sync.Mutex
	socket string // folder of the socket
	shared bool
	owner  *os.File // held for as long as this process runs the server
	proc   *process // nil when shared or stopped
	done   chan struct{}
}

// Start runs a private server, or joins the one that runs on the same folder.
//
// The binaries come from TEKRAR_POSTGRES_BIN, else PATH and the usual folders
// (highest version, 14 or newer, but a version that already has data in the
// folder first), else from a download into a cache.
//
// The process that starts the server owns it: its Stop, its end and even its
// kill -9 end the server (on macOS a killed owner leaves it running; the next
// Start stops it first). A second process that calls Start on the folder
// shares it, is told by Shared, and learns of its end from Done.
// As root the server runs as user postgres, else nobody.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	s := &Server{cfg: cfg}
	if err := s.prepareDir(); err != nil {
		return nil, fmt.Errorf("private Postgres: %w", err)
	}
	if err := s.start(ctx); err != nil {
		if cfg.Ephemeral {
			os.RemoveAll(s.dir)
			s.disown()
		}
		return nil, fmt.Errorf("private Postgres: %w", err)
	}
	return s, nil
}

// PID is the process of the server, the parent of all of its others; 0 when it does
// not run or another process started it.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	select {
	case <-s.done:
		return 0
	default:
		return s.proc.cmd.Process.Pid
	}
}

// Binary is the path of a program that came with the server, "pgbench" for
// example; it need not exist: some distributions package it apart.
func (s *Server) Binary(name string) string { return s.bin.path(name) }

// Restart stops the server if it runs and starts it again on the same data.
// A server that was shared may come back owned.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.halt(ctx, fast); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StartTimeout)
	defer cancel()
	return s.start(ctx)
}

// Halt stops the server and keeps even throw-away data, so that Restart can
// bring it back. A shared server is left alone.
func (s *Server) Halt(ctx context.Context) error { return s.halt(ctx, fast) }

// Crash ends the server as a power cut would, for tests of recovery. It keeps the data.
func (s *Server) Crash(ctx context.Context) error { return s.halt(ctx, immediate) }

// Stop ends the server: at once for its clients, cleanly for its data. When ctx
// ends it gets rougher. Throw-away data is removed. A shared server is only left.
func (s *Server) Stop(ctx context.Context) error {
	how := fast
	if s.cfg.Ephemeral {
		how = immediate
	}
	err := s.halt(ctx, how)
	if s.cfg.Ephemeral {
		if rm := os.RemoveAll(s.dir); err == nil {
			err = rm
		}
		if filepath.Dir(s.socket) != s.dir {
			os.RemoveAll(s.socket)
		}
		s.disown()
	}
	return err
}

func (s *Server) start(ctx context.Context) error {
	unlock, err := lockWait(ctx, filepath.Join(s.dir, "start.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	s.bin, err = defaultFinder().find(ctx, s.dir)
	if err != nil {
		return err
	}
	if err := s.as.reaches(s.bin.dir); err != nil {
		return fmt.Errorf("binaries: %w", err)
	}
	socket, err := socketDir(s.dir, s.as)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.socket = socket
	s.mu.Unlock()
	joined, err := s.join(ctx)
	if joined || err != nil {
		return err
	}
	if err := s.own(); err != nil {
		return err
	}
	err = s.run(ctx)
	if err != nil && !s.cfg.Ephemeral {
		s.disown()
	}
	return err
}
