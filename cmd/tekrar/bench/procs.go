package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// WorkerCommand starts a worker process of the sub-bench procs.
const WorkerCommand = "bench-worker"

// procs: a drain by one, two and four worker processes. They are up, and their
// queue paused, while it is filled; the time runs from its resume.
func (b *bench) procs(ctx context.Context, db *store.DB) error {
	for _, n := range []int{1, 2, 4} {
		rate, err := b.drainBy(ctx, db, n)
		if err != nil {
			return err
		}
		b.print(Figure{Bench: "procs", Figure: fmt.Sprintf("rate_%d_processes", n), Value: rate, Unit: "jobs/s"})
	}
	return nil
}

func (b *bench) drainBy(ctx context.Context, db *store.DB, processes int) (rate float64, err error) {
	c, err := b.client(db, 1)
	if err != nil {
		return 0, err
	}
	if err := c.PauseQueue(ctx, "bench", jobs.DefaultQueue); err != nil {
		return 0, err
	}
	if err := b.fill(ctx, c, b.Jobs); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range processes {
		end, err := b.startWorker(db)
		if err != nil {
			return 0, err
		}
		defer end()
	}
	if err := serversUp(ctx, db, processes); err != nil {
		return 0, err
	}
	defer b.Working.on(fmt.Sprintf("running jobs, %d processes", processes), 0, nil)()
	began := time.Now()
	if err := c.ResumeQueue(ctx, "bench", jobs.DefaultQueue); err != nil {
		return 0, err
	}
	if err := settledAll(ctx, db); err != nil {
		return 0, err
	}
	return float64(b.Jobs) / time.Since(began).Seconds(), nil
}

// serversUp waits until n servers have registered.
func serversUp(ctx context.Context, db *store.DB, n int) error {
	for ctx.Err() == nil {
		servers, err := db.Servers(ctx)
		if err != nil {
			return err
		}
		up := 0
		for _, s := range servers {
			if s.StoppedAt == nil && s.LostAt == nil {
				up++
			}
		}
		if up == n {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ctx.Err()
}

// startWorker starts this program again as a worker process. end closes its
// input, on which it drains and ends.
func (b *bench) startWorker(db *store.DB) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program for worker processes: %w", err)
	}
	cmd := exec.Command(self, WorkerCommand, strconv.Itoa(b.Workers), db.Schema())
	cmd.Env = append(os.Environ(), "DATABASE_URL="+b.dsnOf(db))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start worker process: %w", err)
	}
	return func() {
		stdin.Close()
		_ = cmd.Wait()
	}, nil
}

// RunWorker runs no-op jobs until its input ends. args are the number of workers
// and the schema.
func RunWorker(ctx context.Context, dsn string, in io.Reader, args []string) error {
	if len(args) != 2 {
		return errors.New("a worker process of the bench needs a number of workers and a schema")
	}
	workers, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	db, err := store.Open(dsn, store.Options{Schema: args[1]})
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := jobs.New(db, jobs.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	jobs.Handle(c, func(context.Context, *jobs.Job[noop]) error { return nil })
	return c.Run(ctx)
}
