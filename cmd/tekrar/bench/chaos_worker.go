package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// ChaosWorkerCommand starts a worker process of the chaos run.
const ChaosWorkerCommand = "chaos-worker"

// A short lease makes reclaims frequent.
const (
	chaosLease = 2 * time.Second
	chaosSweep = 500 * time.Millisecond
)

func chaosConfig(name string, log *slog.Logger) jobs.Config {
	return jobs.Config{
		Name: name, Workers: 12, Lease: chaosLease, Heartbeat: chaosLease / 5, Sweep: chaosSweep,
		DrainTimeout: time.Second, StopGrace: time.Second, Logger: log,
	}
}

// RunChaosWorker runs jobs until ctx or its input ends, and so ends with the
// chaos run, however that ended. names are the server's name and the journal.
func RunChaosWorker(ctx context.Context, dsn string, in io.Reader, log io.Writer, names []string) error {
	if len(names) != 2 {
		return errors.New("a worker of the chaos run needs a name and a journal")
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	db, err := store.Open(dsn, store.Options{Logger: logger})
	if err != nil {
		return err
	}
	defer db.Close()
	j, err := openJournal(names[1])
	if err != nil {
		return err
	}
	defer j.Close()
	c, err := jobs.New(db, chaosConfig(names[0], logger))
	if err != nil {
		return err
	}
	handleChaos(c, j)
	return c.Run(ctx)
}

// script is what a job does, attempt by attempt; the last step repeats. Its kinds
// differ in policy only.
type script struct {
	N     int64    `json:"n"` // names the job outside of the database
	Steps []string `json:"steps"`
	MS    int      `json:"ms,omitempty"` // how long a run takes
}

type (
	plainScript  struct{ script }
	retryScript  struct{ script }
	deleteScript struct{ script }
)

func (plainScript) Kind() string  { return "chaos.plain" }
func (retryScript) Kind() string  { return "chaos.retry" }
func (deleteScript) Kind() string { return "chaos.delete" }

func handleChaos(c *jobs.Client, j journal) {
	jobs.Handle(c, func(ctx context.Context, job *jobs.Job[plainScript]) error {
		return job.Args.play(ctx, j, job.ID, job.Attempt)
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Backoff: jobs.Fixed(0)}))
	jobs.Handle(c, func(ctx context.Context, job *jobs.Job[retryScript]) error {
		return job.Args.play(ctx, j, job.ID, job.Attempt)
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 3, Delays: []time.Duration{50 * time.Millisecond, 0, 300 * time.Millisecond}}))
	jobs.Handle(c, func(ctx context.Context, job *jobs.Job[deleteScript]) error {
		return job.Args.play(ctx, j, job.ID, job.Attempt)
	}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Backoff: jobs.Fixed(100 * time.Millisecond), OnExceeded: jobs.Delete}))
}

func (s script) play(ctx context.Context, j journal, job int64, attempt int) error {
	me, _ := jobs.Current(ctx)
	if err := j.note("begun", job, attempt, me.Server); err != nil {
		return err
	}
	err := s.step(ctx, attempt)
	if note := j.note("ended", job, attempt, me.Server); note != nil {
		return note
	}
	if p, ok := errors.AsType[*panicked](err); ok {
		panic(p.Error())
	}
	return err
}

type panicked struct{ at int }

func (p *panicked) Error() string { return fmt.Sprintf("attempt %d panicked as told", p.at) }

func (s script) step(ctx context.Context, attempt int) error {
	what := "ok"
	if len(s.Steps) > 0 {
		what = s.Steps[min(attempt, len(s.Steps))-1]
	}
	wait := time.NewTimer(time.Duration(s.MS) * time.Millisecond)
	defer wait.Stop()
	if what == "deaf" { // hears of no cancelling
		<-wait.C
		return nil
	}
	select {
	case <-wait.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch what {
	case "fail":
		return fmt.Errorf("attempt %d failed as told", attempt)
	case "permanent":
		return jobs.Permanent(errors.New("no retry can cure this"))
	case "cancel":
		return jobs.Cancel(nil)
	case "snooze":
		return jobs.Snooze(100 * time.Millisecond)
	case "panic":
		return &panicked{attempt}
	case "exit":
		os.Exit(3)
	}
	return nil
}
