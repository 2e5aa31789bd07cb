package jobs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// What the environment tells a worker process.
const (
	workerDSN   = "TEKRAR_TEST_WORKER_DSN"
	workerName  = "TEKRAR_TEST_WORKER_NAME"
	workerCrash = "TEKRAR_TEST_WORKER_CRASH" // set: the handler ends the process
	workerTicks = "TEKRAR_TEST_WORKER_TICKS" // set: it declares a job of every second
)

// workerProcess is a real worker with one slot. It prints "started <id>" and, when
// its context ends, "cause <cause>"; a job lasts until its standard input ends,
// which the death of the test does too.
func workerProcess(dsn string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	told := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(told)
		stop()
	}()
	db, err := store.Open(dsn, storetest.Options())
	if err != nil {
		fmt.Println("open", err)
		return 1
	}
	cfg := worker()
	cfg.Name, cfg.DrainTimeout = os.Getenv(workerName), time.Minute
	c, err := jobs.New(db, cfg)
	if err != nil {
		fmt.Println("new", err)
		return 1
	}
	jobs.Handle(c, func(ctx context.Context, j *jobs.Job[task]) error {
		fmt.Println("started", j.ID)
		if os.Getenv(workerCrash) != "" {
			os.Exit(3)
		}
		select {
		case <-told:
		case <-ctx.Done():
			fmt.Println("cause", context.Cause(ctx))
		}
		return nil
	})
	if os.Getenv(workerTicks) != "" {
		c.Recurring("tick", "* * * * * *", task{}, jobs.MisfireRule(schedule.RunAll))
	}
	if err := c.Run(ctx); err != nil {
		fmt.Println("run", err)
		return 1
	}
	return 0
}

// worker is the configuration on both sides of a kill.
func worker() jobs.Config {
	return jobs.Config{
		Workers: 1, Lease: 2 * time.Second, Heartbeat: 400 * time.Millisecond, Sweep: 300 * time.Millisecond,
		LossLimit: 2, Logger: slog.New(slog.DiscardHandler),
	}
}

type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string
	ended chan struct{}
}

// spawn starts this test binary again as a worker process.
func spawn(t *testing.T, dsn, name string, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), workerDSN+"="+dsn, workerName+"="+name), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, stdin: stdin, lines: make(chan string, 100), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			p.lines <- s.Text()
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		p.wait()
	})
	return p
}

// signal is harmless after the end: os.Process knows that it has been waited for.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		p.t.Fatal("the worker process did not end within 30 s")
	}
	return p.cmd.ProcessState.ExitCode()
}

// line waits for a line that starts with prefix and returns the rest.
func (p *process) line(prefix string) string {
	p.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case l := <-p.lines:
			if rest, ok := strings.CutPrefix(l, prefix); ok {
				return strings.TrimSpace(rest)
			}
		case <-limit:
			p.t.Fatalf("the worker process did not say %q within 30 s", prefix)
		}
	}
}
