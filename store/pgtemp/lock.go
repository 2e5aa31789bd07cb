//go:build linux || darwin

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Two locks in the folder, both flock, so that the kernel frees them when a
// process dies: start.lock is held while somebody starts or stops the server,
// owner.lock for as long as the process that started it lives.

// lockFile takes path's lock if it is free; nil means another has it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR):
		return nil, f.Close()
	default:
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}

// lockWait waits for path's lock. It polls: a blocked flock cannot be given up.
func lockWait(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := lockFile(path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func() { f.Close() }, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, fmt.Errorf("another process is starting or stopping the server (%s): %w", path, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// own makes this process the server's owner. Called under start.lock.
func (s *Server) own() error {
	s.mu.Lock()
	held := s.owner != nil
	s.mu.Unlock()
	if held {
		return nil
	}
	f, err := lockFile(filepath.Join(s.dir, "owner.lock"))
	if err == nil && f == nil {
		err = fmt.Errorf("another process owns the server in %s, but it does not run", s.dir)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner, s.shared = f, false
	return nil
}

func (s *Server) disown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner != nil {
		s.owner.Close()
		s.owner = nil
	}
}

// owned reports whether some living process owns the server. Called under start.lock.
func (s *Server) owned() (bool, error) {
	f, err := lockFile(filepath.Join(s.dir, "owner.lock"))
	if err != nil {
		return false, err
	}
	if f == nil {
		return true, nil
	}
	return false, f.Close()
}
