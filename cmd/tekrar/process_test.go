package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var binaryDir string // removed by TestMain

// binary builds the program once for all tests that need a process of their own.
var binary = sync.OnceValues(func() (path string, err error) {
	if binaryDir, err = os.MkdirTemp("", "tekrar-binary-"); err != nil {
		return "", err
	}
	path = filepath.Join(binaryDir, "tekrar")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// process is a running program.
type process struct {
	*exec.Cmd
	url    string // of the dashboard
	line   string // the one line of stdout
	stderr *watched
	ended  chan error
}

// launch starts the program and waits for its one line on stdout.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(path, args...), stderr: &watched{}, ended: make(chan error, 1)}
	p.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	p.Stderr = p.stderr
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	first, end := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(end)
		out := bufio.NewReader(stdout)
		line, _ := out.ReadString('\n')
		first <- line
		rest, _ := io.ReadAll(out)
		if len(rest) > 0 {
			t.Errorf("more than one line on stdout: %s", rest)
		}
	}()
	go func() { <-end; p.ended <- p.Wait() }()
	t.Cleanup(func() { p.Process.Kill(); <-end })
	select {
	case p.line = <-first:
	case <-time.After(2 * time.Minute):
		t.Fatalf("no line on stdout; stderr: %s", p.stderr)
	}
	if p.url = regexp.MustCompile(`http://[^ :]+:\d+[^ :;]*`).FindString(p.line); p.url == "" {
		t.Fatalf("no address in %q; stderr: %s", p.line, p.stderr)
	}
	return p
}

// signal sends one and waits for the end of the process; the exit code is -1 when
// the signal itself ended it.
func (p *process) signal(t *testing.T, s os.Signal, within time.Duration) int {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
		return p.ProcessState.ExitCode()
	case <-time.After(within):
		p.Process.Signal(syscall.SIGQUIT)
		t.Fatalf("still there %v after %v; stderr: %s", within, s, p.stderr)
		return 0
	}
}

// get reads a page until it is as wished.
func (p *process) get(t *testing.T, path string, wished func(body string) bool) string {
	t.Helper()
	var body []byte
	poll, deadline := time.NewTicker(100*time.Millisecond), time.After(time.Minute)
	defer poll.Stop()
	for {
		resp, err := http.Get(p.url + path)
		if err == nil {
			body, _ = io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK && wished(string(body)) {
				return string(body)
			}
		}
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("%s never became as wished: %v\n%s\nstderr: %s", path, err, body, p.stderr)
		}
	}
}

// watched is a buffer that another goroutine may read.
type watched struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// until waits for a text.
func (w *watched) until(t *testing.T, text string) {
	t.Helper()
	poll, deadline := time.NewTicker(10*time.Millisecond), time.After(30*time.Second)
	defer poll.Stop()
	for !strings.Contains(w.String(), text) {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("never said %q: %s", text, w)
		}
	}
}
