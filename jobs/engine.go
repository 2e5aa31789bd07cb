package jobs

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/store"
)

// ErrRunning: Run was called while another Run of the same client is active.
var ErrRunning = errors.New("the client is running already")

// engine is one Run of a client: the loops and what they share.
type engine struct {
	c     *Client
	db    *store.DB
	cfg   Config
	log   *slog.Logger
	kinds map[string]*handler

	attended  attended
	server    atomic.Int64 // id of the server row; changes when the lease was lost
	listening atomic.Bool
	draining  atomic.Bool

	held      *held
	claimer   *claimer
	settler   *settler
	scheduler *scheduler
	firer     *firer
	continuer *continuer
	reports   *reports
	handlers  map[string]func(context.Context, *attempt) error // by kind, within middleware
	workers   sync.WaitGroup
}

func newEngine(c *Client) *engine {
	e := &engine{c: c, db: c.db, cfg: c.cfg, log: c.log, kinds: c.registered()}
	e.held = newHeld(c.cfg.Workers)
	e.claimer = newClaimer(e)
	e.settler = newSettler(e)
	e.scheduler = newScheduler(e)
	e.firer = newFirer(e)
	e.continuer = newContinuer(e)
	e.reports = newReports(e)
	e.handlers = map[string]func(context.Context, *attempt) error{}
	for kind, h := range e.kinds {
		e.handlers[kind] = h.wrapped(e.cfg.Middleware)
	}
	return e
}

// Run registers this process as a server, claims jobs and runs them until ctx
// ends. Then it claims no more, lets running jobs finish for Config.DrainTimeout,
// cancels the rest with ErrShutdown (they return to enqueued and no retry is
// used), writes every outcome, and returns nil. A handler that does not return
// even then is named in the log, and other servers take its job over when the
// lease ends.
//
// Errors: a registration that cannot work, a database that cannot be used
// (unreachable, too old, schema missing or too new), ErrRunning. A database that
// goes away later is waited for. Run can be called again after it returned.
func (c *Client) Run(ctx context.Context) error {
	if err := c.registrationError(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	e := newEngine(c)
	if !c.engine.CompareAndSwap(nil, e) {
		return ErrRunning
	}
	defer c.engine.Store(nil)
	return e.run(ctx)
}

func (e *engine) run(ctx context.Context) error {
	if err := e.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	// Two lives: loops that feed work end with ctx, those that keep what runs
	// (lease, settles, notifications) end after the drain.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	var feeding, keeping sync.WaitGroup
	keeping.Go(func() { e.keepLease(life) })
	keeping.Go(func() { e.watchTaken(life) })
	if !e.cfg.PollOnly {
		keeping.Go(func() { e.listen(life) })
	}
	settled := make(chan struct{})
	go func() { e.settler.run(); close(settled) }()
	keeping.Go(func() { e.continuer.run(life) }) // what ends in the drain has continuations too
	feeding.Go(func() { e.claimer.run(ctx) })
	feeding.Go(func() { e.scheduler.run(ctx) })
	feeding.Go(func() { e.firer.run(ctx) })
	feeding.Go(func() { e.sweep(ctx) })
	feeding.Go(func() { e.janitor(ctx) })
	if e.cfg.Webhook != "" {
		feeding.Go(func() { e.watchFirstAttempts(ctx) })
	}
	e.log.Info("server started", "server", e.cfg.Name, "id", e.server.Load(), "workers", e.cfg.Workers, "queues", e.claimer.queueNames())

	<-ctx.Done()
	e.draining.Store(true)
	feeding.Wait()
	e.giveBack()
	left := e.drain()
	e.reports.wait()
	e.settler.stop()
	<-settled
	end()
	keeping.Wait()
	e.c.changes.wait()
	return e.leave(left)
}

// start checks the database, publishes the kinds and takes the first lease.
func (e *engine) start(ctx context.Context) error {
	e.c.warnOfNarrowPool()
	if err := e.db.CheckVersion(ctx); err != nil {
		return err
	}
	if err := e.db.CheckSchema(ctx); err != nil {
		return err
	}
	if err := e.db.CheckPooler(ctx); err != nil {
		return err
	}
	ctx, cancel := lingering(ctx, claimGrace) // a row that nobody knows of would be found lost
	defer cancel()
	if err := e.register(ctx); err != nil {
		return err
	}
	return e.declare(ctx, false)
}

// giveBack settles what was claimed but not started.
func (e *engine) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), claimGrace)
	defer cancel()
	unknown, err := e.claimer.unknown(ctx)
	if err != nil {
		e.log.Warn("a claim had no answer; jobs that it took are left to other servers", "err", err)
	}
	for _, c := range unknown {
		e.begin(c, e.server.Load())
	}
	for _, a := range e.held.takeBuffered() {
		e.settler.add(a.settled(0, 0, decision{State: store.Enqueued, Outcome: store.OutcomeInterrupted,
			Reason: "Interrupted by shutdown", Next: a.counters()}))
		e.held.drop(a)
	}
}

// drain waits for the handlers, cancels them when the time is up, and returns
// what still runs after the grace.
func (e *engine) drain() []*attempt {
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	if e.cfg.DrainTimeout > 0 {
		select {
		case <-done:
			return nil
		case <-time.After(e.cfg.DrainTimeout):
		}
	}
	e.held.cancelAll(ErrShutdown)
	select {
	case <-done:
		return nil
	case <-time.After(e.cfg.StopGrace):
	}
	return e.held.running()
}

// leave gives the server row up. Jobs whose handlers still run keep it, so that
// nobody starts them again before the lease has ended.
func (e *engine) leave(left []*attempt) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, a := range left {
		e.log.Error("handler ignored its cancelled context; its job is left to other servers", "job_id", a.ID, "kind", a.Kind, "attempt", a.Attempt)
	}
	if len(left) > 0 || e.settler.unwritten() > 0 {
		return nil
	}
	if err := e.db.Stop(ctx, e.server.Load()); err != nil {
		e.log.Warn("server row not marked as stopped; it will be found lost", "err", err)
	}
	e.log.Info("server stopped", "server", e.cfg.Name)
	return nil
}

func (e *engine) listen(ctx context.Context) {
	mine := e.claimer.queueNames()
	e.db.ListenJobs(ctx, func(up bool) {
		e.listening.Store(up)
		if up { // what was missed meanwhile
			e.claimer.wake()
			e.continuer.look()
		}
	}, func(h store.JobsHint) {
		switch {
		case h.Taken:
			e.held.look()
		case h.Watching:
			e.c.changes.watched()
		case h.Awaiting:
			e.continuer.look(h.Parents.IDs()...)
		case h.Recurring:
			e.firer.wake()
		case h.Queue == "" || slices.Contains(mine, h.Queue):
			e.claimer.wake()
		}
	})
	e.listening.Store(false)
}

// poll is the longest idle wait, jittered so that servers do not ask in step.
func (e *engine) poll() time.Duration {
	d := e.cfg.Poll
	if d == 0 {
		d = time.Second
		if !e.listening.Load() {
			d = 200 * time.Millisecond
		}
	}
	return jitter(d)
}
