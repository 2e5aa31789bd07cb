//go:build linux || darwin

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/pgtemp"
)

// chaosSlack is what a busy machine may add to the promised times.
const chaosSlack = 4 * time.Second

// drainPatience bounds the drain: retries of 300 ms, reclaims, and one recovery.
const drainPatience = time.Minute

// Chaos runs jobs in worker processes that are killed, frozen, cut off from
// Postgres and restarted at random, prints the figures as one JSON line, and
// fails with the names of all breaches of what the engine promises.
func Chaos(ctx context.Context, s ChaosSettings, out io.Writer) (err error) {
	if err := s.Check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tekrar-chaos-")
	if err != nil {
		return err
	}
	c := &chaos{ChaosSettings: s, dir: dir, ledger: newLedger()}
	e, err := c.run(ctx)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), os.RemoveAll(dir))
	}
	if err != nil {
		return fmt.Errorf("chaos run (its logs are in %s): %w", dir, err)
	}
	if err := c.print(e, out); err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	return os.RemoveAll(dir)
}

type chaos struct {
	ChaosSettings
	*ledger
	dir     string
	server  *pgtemp.Server
	dsn     string // direct
	direct  *store.DB
	workers []*worker
	faults  *faults
	probe   *probe
}

func (c *chaos) journal() string { return filepath.Join(c.dir, "effects") }

func (c *chaos) run(ctx context.Context) (e *evidence, err error) {
	quiet := slog.New(slog.DiscardHandler)
	stop := c.Working.on("starting a private Postgres", 0, nil)
	c.server, err = pgtemp.Start(ctx, pgtemp.Config{Logger: quiet, Settings: map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "300", "log_lock_waits": "on",
	}})
	stop()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.server.Stop(context.WithoutCancel(ctx))) }()
	if err := c.server.CreateDatabase(ctx, "chaos"); err != nil {
		return nil, err
	}
	c.dsn = c.server.DSN("chaos")
	if c.direct, err = store.Open(c.dsn, store.Options{Logger: quiet}); err != nil {
		return nil, err
	}
	defer c.direct.Close()
	if err := c.direct.Migrate(ctx); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(c.dir, "workers.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	defer c.killAll()
	if err := c.startWorkers(log); err != nil {
		return nil, err
	}
	stop = c.Working.during("load and faults", time.Duration(c.Minutes*float64(time.Minute)))
	err = c.storm(ctx, log)
	stop()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	stop = c.Working.on("draining what is left", 0, nil)
	err = c.drain(ctx)
	stop()
	if err != nil {
		return nil, err
	}
	defer c.Working.on("looking at every job", 0, nil)()
	return c.gather(ctx)
}

func (c *chaos) startWorkers(log io.Writer) error {
	spawn, err := selfSpawn(c.journal())
	if err != nil {
		return err
	}
	for i := range c.Processes {
		name := fmt.Sprintf("worker-%d", i)
		k, err := newLink(filepath.Join(c.dir, name), c.dsn)
		if err != nil {
			return err
		}
		w := &worker{name: name, link: k, spawn: spawn, dsn: k.dsn(c.dsn), log: log, healthy: time.Now(), deaths: map[int]time.Time{}}
		c.workers = append(c.workers, w)
		if err := w.start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *chaos) killAll() {
	for _, w := range c.workers {
		w.kill()
		_ = w.link.close()
	}
}

// storm is the load under faults.
func (c *chaos) storm(ctx context.Context, log io.Writer) error {
	k, err := newLink(filepath.Join(c.dir, "load"), c.dsn)
	if err != nil {
		return err
	}
	defer k.close()
	quiet := slog.New(slog.DiscardHandler)
	db, err := store.Open(k.dsn(c.dsn), store.Options{Logger: quiet})
	if err != nil {
		return err
	}
	defer db.Close()
	client, err := jobs.New(db, jobs.Config{Logger: quiet})
	if err != nil {
		return err
	}
	c.faults = &faults{rnd: rand.New(rand.NewPCG(c.Seed, 0)), server: c.server, workers: c.workers, load: k, crashes: c.Crashes,
		log: slog.New(slog.NewTextHandler(log, nil))}
	ctx, stop := context.WithTimeout(ctx, time.Duration(c.Minutes*float64(time.Minute)))
	defer stop()
	sure, err := jobs.New(c.direct, jobs.Config{Logger: quiet})
	if err != nil {
		return err
	}
	c.probe = &probe{client: sure, ledger: c.ledger}
	var enqueuers sync.WaitGroup
	enqueuers.Go(func() { (&load{db: db, client: client, ledger: c.ledger}).run(ctx, c.Seed) })
	enqueuers.Go(func() { c.probe.run(ctx) })
	err = c.faults.run(ctx)
	stop()
	enqueuers.Wait()
	return err
}

// drain waits until nothing is left to run and ends the workers.
func (c *chaos) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	for {
		for _, w := range c.workers {
			if err := w.restartExited(); err != nil {
				return err
			}
		}
		left, err := c.direct.Counts(ctx)
		if err == nil && left[store.Enqueued].N+left[store.Processing].N+left[store.Scheduled].N == 0 {
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("not drained %v after the last fault: %d enqueued, %d processing, %d scheduled (%v)", drainPatience,
				left[store.Enqueued].N, left[store.Processing].N, left[store.Scheduled].N, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	var errs []error
	for _, w := range c.workers {
		errs = append(errs, w.finish())
	}
	return errors.Join(errs...)
}

func (c *chaos) gather(ctx context.Context) (*evidence, error) {
	e := &evidence{ledger: c.ledger, outages: append(c.faults.outages, c.probe.stalls...), deaths: map[int]time.Time{},
		lease: chaosLease, sweep: chaosSweep, slack: chaosSlack}
	slices.SortFunc(e.outages, func(a, b span) int { return a.From.Compare(b.From) })
	for _, w := range c.workers {
		maps.Copy(e.deaths, w.deaths)
	}
	if err := e.collect(ctx, c.direct, c.journal()); err != nil {
		return nil, err
	}
	e.judge()
	return e, nil
}

func (c *chaos) print(e *evidence, out io.Writer) error {
	exits := 0
	for _, w := range c.workers {
		exits += w.exits
	}
	c.faults.counts["own_exits"] = exits
	return report(out, struct {
		Bench string `json:"bench"`
		ChaosSettings
		verdict
		StalledMS float64        `json:"stalled_ms"` // the machine or the database had no time
		Faults    map[string]int `json:"faults"`
		Breaches  []string       `json:"breaches"`
	}{"chaos", c.ChaosSettings, e.figures, ms(total(c.probe.stalls)), c.faults.counts, append([]string{}, e.breaches[:min(len(e.breaches), 50)]...)}, e.breaches)
}

// report prints the figures as one line, and fails when there are breaches.
func report(out io.Writer, figures any, breaches []string) error {
	line, err := json.Marshal(figures)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", line)
	if n := len(breaches); n > 0 {
		return fmt.Errorf("%d breaches, of which the first: %s", n, strings.Join(breaches[:min(n, 5)], "; "))
	}
	return nil
}
