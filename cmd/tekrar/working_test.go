//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// screen is a terminal of 60 columns and what was written to it.
type screen struct {
	*watched
	tty *os.File
}

func newScreen(t *testing.T) screen {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 20, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	s := screen{&watched{}, tty}
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(s.watched, master) }()
	t.Cleanup(func() { tty.Close(); <-read; master.Close() })
	return s
}

// lines are what a person sees once everything is written: a line that was cleared or
// written over is gone.
func (s screen) lines(t *testing.T, last string) []string {
	t.Helper()
	s.until(t, last+"\r\n")
	var seen []string
	for line := range strings.SplitSeq(strings.TrimSuffix(s.String(), "\r\n"), "\r\n") {
		seen = append(seen, gone.ReplaceAllString(line, ""))
	}
	return seen
}

// gone is what was cleared or written over, erased the codes that do it.
var (
	gone   = regexp.MustCompile(`^.*(\r|\x1b\[2K)`)
	erased = regexp.MustCompile(`\x1b\[[02]K`)
)

var drawnBar = regexp.MustCompile(`migrating: 3 of 10, [0-9]+s left +30% \[=+> *\]`)

func TestABarAtATerminal(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	p := &program{stderr: s.tty}
	var done atomic.Int64
	stop := p.working("migrating", 10, done.Load)
	s.until(t, "migrating: 1s")
	done.Store(3)
	s.until(t, "3 of 10")
	_, _ = io.WriteString(p.beside(s.tty), "a line of the log\n")
	s.until(t, "a line of the log\r\n")
	before := len(s.String())
	deadline := time.Now().Add(10 * time.Second)
	for len(s.String()) == before && time.Now().Before(deadline) { // it is drawn again
		time.Sleep(time.Millisecond)
	}
	done.Store(10)
	stop()
	stop()
	s.until(t, "migrating: 10 of 10 in ")
	seen := s.lines(t, "s")
	if len(seen) != 2 || seen[0] != "a line of the log" || !strings.HasPrefix(seen[1], "migrating: 10 of 10 in ") {
		t.Errorf("a person sees %q", seen)
	}
	if !drawnBar.MatchString(s.String()) {
		t.Errorf("no bar: %q", s.String())
	}
	for drawn := range strings.SplitSeq(s.String(), "\r") {
		if len(erased.ReplaceAllString(drawn, "")) > 60 {
			t.Errorf("a line is broken: %q", drawn)
		}
	}
	if p.bar.Load() != nil {
		t.Error("it is said to be on the screen still")
	}
}

// Where it is not known how much there is to do, a person sees that it goes on.
func TestABarWithoutATotal(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	p := &program{stderr: s.tty}
	stop := p.working("purging \x1b[31mclaims", 0, nil)
	s.until(t, `purging \x1b[31mclaims: 1s`)
	s.until(t, `purging \x1b[31mclaims: 2s`)
	p.leave() // as a second Ctrl-C does; nothing is drawn any more
	if said := s.String(); !strings.HasSuffix(said, "\r\x1b[2K") {
		s.until(t, "\x1b[0K\r\x1b[2K")
	}
	p.bar.Load().mu.Unlock()
	stop()
	if seen := s.lines(t, "s"); len(seen) != 1 || !strings.HasPrefix(seen[0], `purging \x1b[31mclaims: `) {
		t.Errorf("a person sees %q", seen)
	}
}

// LIF-11: what nobody reads, or a program does, has no byte of a bar, and nor has what
// ends at once.
func TestNoBarForPipesAndShortWork(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	pipe := &watched{}
	for name, tt := range map[string]struct {
		p     *program
		json  bool
		after time.Duration
	}{
		"pipe":    {p: &program{stderr: pipe}, after: workingAfter + 3*workingEvery},
		"dumb":    {p: &program{stderr: s.tty, environ: []string{"TERM=dumb"}}, after: workingAfter + 3*workingEvery},
		"json":    {p: &program{stderr: s.tty}, json: true, after: workingAfter + 3*workingEvery},
		"at once": {p: &program{stderr: s.tty}, after: workingEvery * 2},
	} {
		stop := tt.p.quietly(tt.json)("migrating", 10, func() int64 { return 3 })
		<-time.After(tt.after) // what must not come cannot be waited for
		stop()
		if said := s.String() + pipe.String(); said != "" {
			t.Errorf("%s: wrote %q", name, said)
		}
	}
}

// LIF-11: a whole program that has to wait. On a terminal there is a bar, which Ctrl-C
// takes away; stdout has none in any case, and nor has a stderr that is a file.
func TestBarOfAProgram(t *testing.T) {
	t.Parallel()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"terminal": nil, "pipe": nil, "json": {"--json"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, s := storetest.DSN(t), newScreen(t)
			tx, err := storetest.Open(t, dsn, store.Options{}).Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			if _, err := tx.Exec(`lock table tekrar.jobs in exclusive mode`); err != nil { // jobs can be read, not moved
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			cmd := exec.Command(path, append([]string{"jobs", "requeue", "1", "2"}, args...)...)
			cmd.Env, cmd.Stdout, cmd.Stderr = []string{"DATABASE_URL=" + dsn, "NO_COLOR=1"}, &out, s.tty
			if name == "pipe" {
				cmd.Stderr = &errs
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if name == "terminal" {
				s.until(t, "changing jobs: 1s")
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			} else {
				<-time.After(2 * workingAfter) // what must not come cannot be waited for
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			if cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
			}
			const refused = "tekrar: 2 of 2 jobs were not changed"
			switch name {
			case "terminal":
				s.until(t, "\ntekrar: ")
				seen := s.lines(t, "")
				if len(seen) != 2 || !strings.HasPrefix(seen[0], "changing jobs: 0 of 2 in ") || out.Len() > 0 {
					t.Errorf("a person sees %q, stdout has %q", seen, &out)
				}
			case "pipe":
				if errs.String() != refused+"\n" || out.String() != "job 1: not found\njob 2: not found\n" {
					t.Errorf("stderr has %q, stdout %q", &errs, &out)
				}
			case "json":
				if seen := s.lines(t, refused); len(seen) != 1 || seen[0] != refused || !json.Valid(out.Bytes()) {
					t.Errorf("a person sees %q, stdout has %q", seen, &out)
				}
			}
			if strings.Contains(s.String(), "\x1b[3") || strings.Contains(s.String(), "\x1b[1m") {
				t.Errorf("colours: %q", s.String())
			}
		})
	}
}
