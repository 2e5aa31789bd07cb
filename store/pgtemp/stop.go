//go:build linux || darwin

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// escalation is what a server is asked with, one signal after the other.
type escalation []struct {
	signal syscall.Signal
	wait   time.Duration
}

var (
	// fast disconnects the clients and writes everything out.
	fast = escalation{{syscall.SIGINT, 15 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}
	// immediate leaves recovery to the next start.
	immediate = escalation{{syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}
)

// halt ends the server if this process owns it, and only leaves it otherwise.
func (s *Server) halt(ctx context.Context, how escalation) error {
	// A server being stopped must not be joined, so starters wait.
	unlock, err := lockWait(context.WithoutCancel(ctx), filepath.Join(s.dir, "start.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	s.mu.Lock()
	proc, done := s.proc, s.done
	s.proc = nil
	s.mu.Unlock()
	if proc == nil {
		return nil
	}
	if !s.cfg.Ephemeral {
		defer s.disown() // a halted throw-away folder stays ours, or sweep would take it
	}
	ended := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	if err := end(ctx, proc.cmd.Process.Pid, how, ended); err != nil {
		return err
	}
	s.cfg.Logger.Info("stopped Postgres", "folder", s.dir)
	return nil
}

// end sends the signals until ended says so. When ctx ends, it does not wait
// for the milder ones.
func end(ctx context.Context, pid int, how escalation, ended func() bool) error {
	for i, step := range how {
		if ended() {
			return nil
		}
		if err := syscall.Kill(pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop Postgres (pid %d): %w", pid, err)
		}
		limit := ctx
		if i == len(how)-1 {
			limit = context.WithoutCancel(ctx)
		}
		stepCtx, cancel := context.WithTimeout(limit, step.wait)
		for !ended() && pause(stepCtx, 5*time.Millisecond) == nil {
		}
		cancel()
	}
	if !ended() {
		return fmt.Errorf("stop Postgres: pid %d is still there after SIGKILL", pid)
	}
	return nil
}
