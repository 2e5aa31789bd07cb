//go:build linux || darwin

package pgtemp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// deadPid is above what any system hands out.
const deadPid = 1<<31 - 2

// pidFile is postmaster.pid: the process that last ran on a data folder.
type pidFile struct {
	path string
	pid  int
}

func readPidFile(path string) (pidFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return pidFile{}, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid == 0 {
		return pidFile{}, fmt.Errorf("%s names no process", path)
	}
	return pidFile{path: path, pid: max(pid, -pid)}, nil // a single-user backend writes it negative
}

// runs reports whether that process lives and is the server of this folder,
// rather than a zombie or a stranger that got the number.
func (p pidFile) runs() bool { return alive(p.pid) && servesFolder(p.pid, filepath.Dir(p.path)) }

// bury lets Postgres start over a pid file whose process is a zombie or a
// stranger. Only the number is replaced, by one that cannot live: the file also
// names the shared memory by which Postgres sees that old backends still write.
func (p pidFile) bury() error {
	text, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return os.WriteFile(p.path, append([]byte(strconv.Itoa(deadPid)+"\n"), rest...), 0o600)
}

// join looks at the server that runs on the folder: one with a living owner is
// shared (true); one whose owner was killed is stopped; stale files are cleared.
func (s *Server) join(ctx context.Context) (bool, error) {
	data := dataDir(s.dir, s.bin.major)
	p, err := readPidFile(filepath.Join(data, "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return false, s.clearSocket()
	}
	if err != nil {
		// Empty or cut short by a full disk; Postgres would refuse it.
		if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil {
			return false, err
		}
		return false, s.clearSocket()
	}
	if !p.runs() {
		if alive(p.pid) || zombie(p.pid) {
			if err := p.bury(); err != nil {
				return false, fmt.Errorf("stale %s: %w", p.path, err)
			}
		}
		return false, s.clearSocket()
	}
	owned, err := s.owned()
	if err != nil {
		return false, err
	}
	if owned {
		return true, s.share(ctx, p.pid)
	}
	opts, _ := os.ReadFile(filepath.Join(data, "postmaster.opts"))
	if !bytes.Contains(opts, []byte(ownMark)) {
		return false, fmt.Errorf("a server that Tekrar did not start runs on %s (pid %d): stop it, or choose another folder", data, p.pid)
	}
	s.cfg.Logger.Info("stopping a Postgres whose owner was killed", "pid", p.pid, "folder", data)
	if err := end(ctx, p.pid, fast, func() bool { return !alive(p.pid) }); err != nil {
		return false, err
	}
	return false, s.clearSocket()
}

// clearSocket removes what a killed server left. Nobody listens there now:
// the folder is private and the caller has seen that no server runs.
func (s *Server) clearSocket() error {
	for _, name := range []string{".s.PGSQL." + port, ".s.PGSQL." + port + ".lock"} {
		if err := os.Remove(filepath.Join(s.socket, name)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("stale socket: %w", err)
		}
	}
	return nil
}

// share uses a server that another process owns.
func (s *Server) share(ctx context.Context, pid int) error {
	done := make(chan struct{})
	s.mu.Lock()
	s.shared, s.done = true, done
	s.mu.Unlock()
	if err := s.ready(ctx, func() bool { return !alive(pid) }); err != nil {
		return err
	}
	s.cfg.Logger.Info("sharing a running Postgres", "pid", pid, "folder", s.dir)
	go func() {
		// It is nobody's child here, so its end can only be looked for.
		for alive(pid) {
			time.Sleep(200 * time.Millisecond)
		}
		close(done)
	}()
	return nil
}

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return (err == nil || errors.Is(err, syscall.EPERM)) && !zombie(pid)
}
