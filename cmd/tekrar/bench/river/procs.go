package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/riverqueue/river"
)

// workerBench names a worker process of procs instead of a sub-bench.
const workerBench = "worker"

func (b *bench) procs(ctx context.Context) error {
	for _, n := range []int{1, 2, 4} {
		rate, err := b.drainBy(ctx, n)
		if err != nil {
			return err
		}
		figure("procs", fmt.Sprintf("rate_%d_processes", n), "jobs/s", rate)
	}
	return nil
}

func (b *bench) drainBy(ctx context.Context, processes int) (float64, error) {
	for range processes {
		end, err := b.startWorker()
		if err != nil {
			return 0, err
		}
		defer end()
	}
	c, err := b.client(1, func(int) {})
	if err != nil {
		return 0, err
	}
	if err := c.QueuePause(ctx, river.QueueDefault, nil); err != nil {
		return 0, err
	}
	if err := b.fill(ctx, c, b.jobs); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := c.QueueResume(ctx, river.QueueDefault, nil); err != nil {
		return 0, err
	}
	if err := b.settledAll(ctx); err != nil {
		return 0, err
	}
	return float64(b.jobs) / time.Since(began).Seconds(), nil
}

// startWorker returns when the process says that it works.
func (b *bench) startWorker() (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, workerBench, b.dsn, "0", strconv.Itoa(b.workers), "0", "0", "0", "0")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("worker process did not start: %w", err)
	}
	return func() {
		stdin.Close()
		_ = cmd.Wait()
	}, nil
}

// work runs jobs until the input ends.
func (b *bench) work(ctx context.Context) error {
	c, err := b.client(b.workers, func(int) {})
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	fmt.Println("works")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return c.Stop(ctx)
}
