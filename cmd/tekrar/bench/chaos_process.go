//go:build linux || darwin

package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// worker is one place for worker processes: when its process ends, another one
// takes the place.
type worker struct {
	name    string
	link    *link
	spawn   func(name, dsn string) *exec.Cmd
	dsn     string
	healthy time.Time // since then nothing was done to it; zero: something is
	log     io.Writer

	mu     sync.Mutex
	cmd    *exec.Cmd
	stdin  io.Closer
	ended  chan struct{}
	deaths map[int]time.Time // by pid
	exits  int               // that nobody asked for
}

func (w *worker) start() error {
	cmd := w.spawn(w.name, w.dsn)
	cmd.Stderr = w.log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start worker process: %w", err)
	}
	ended := make(chan struct{})
	w.mu.Lock()
	w.cmd, w.stdin, w.ended = cmd, stdin, ended
	w.mu.Unlock()
	go func() {
		_ = cmd.Wait()
		w.mu.Lock()
		w.deaths[cmd.Process.Pid] = time.Now()
		w.mu.Unlock()
		close(ended)
	}()
	return nil
}

// signal is harmless after the end: os.Process knows that it has been waited for.
func (w *worker) signal(s syscall.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.cmd.Process.Signal(s)
}

func (w *worker) end() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// finish asks for a clean end and requires it.
func (w *worker) finish() error {
	w.signal(syscall.SIGCONT)
	w.signal(syscall.SIGTERM)
	select {
	case <-w.end():
	case <-time.After(30 * time.Second):
		w.signal(syscall.SIGKILL)
		<-w.end()
		return fmt.Errorf("worker %s did not end within 30 s of SIGTERM", w.name)
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("worker %s ended with code %d after SIGTERM", w.name, code)
	}
	return nil
}

func (w *worker) kill() {
	w.mu.Lock()
	started := w.cmd != nil
	w.mu.Unlock()
	if started {
		w.signal(syscall.SIGKILL)
		<-w.end()
	}
}

// restartExited brings back a process that a job of its own ended.
func (w *worker) restartExited() error {
	select {
	case <-w.end():
		w.exits++
		return w.start()
	default:
		return nil
	}
}

func selfSpawn(journal string) (func(name, dsn string) *exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(errors.New("find the program for worker processes"), err)
	}
	return func(name, dsn string) *exec.Cmd {
		cmd := exec.Command(self, ChaosWorkerCommand, name, journal)
		cmd.Env = append(os.Environ(), "DATABASE_URL="+dsn)
		return cmd
	}, nil
}
