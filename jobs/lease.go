package jobs

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/tekrar/tekrar/store"
)

// register writes what this server knows of its kinds and then its row: claims
// begin with that, so nothing may fail after it.
func (e *engine) register(ctx context.Context) error {
	var kinds []store.NewKind
	for _, name := range sortedKeys(e.kinds) {
		h := e.kinds[name]
		policy, _ := effectivePolicy(nil, h.policy, e.cfg.Retry)
		text, err := encodePolicy(policy, h.warnings...)
		if err != nil {
			return err
		}
		keep := Retention{}
		if h.keep != nil {
			keep = *h.keep
		}
		kinds = append(kinds, store.NewKind{KeepSucceeded: keep.Succeeded, KeepDeleted: keep.Deleted, Kind: name, Queue: h.queue, MaxRetries: policy.MaxRetries, Timeout: e.timeoutOf(h, 0), Policy: text})
	}
	if err := e.db.PublishKinds(ctx, kinds); err != nil {
		return err
	}
	if err := e.db.SaveLimits(ctx, limitsOf(e.claimer.units)); err != nil {
		return err
	}
	host, _ := os.Hostname()
	id, err := e.db.Register(ctx, store.NewServer{
		Name: e.cfg.Name, Host: host, PID: os.Getpid(), Version: e.cfg.Version, Slots: e.cfg.Workers,
		Listening: e.listening.Load(), Queues: e.claimer.queueNames(), Kinds: sortedKeys(e.kinds), Lease: e.cfg.Lease,
		Recurring: sortedKeys(e.c.declared()),
	})
	if err != nil {
		return err
	}
	e.renewed()
	e.server.Store(id)
	return nil
}

// keepLease renews the lease, through the drain as well: jobs that still run
// must stay this server's. After an outage it renews if nobody took the row.
func (e *engine) keepLease(ctx context.Context) {
	trouble := &incident{log: e.log, what: "lease renewal"}
	wait := e.cfg.Heartbeat
	for sleep(ctx, wait, nil) {
		err := e.renew(ctx, e.server.Load())
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, store.ErrLeaseLost):
			e.leaseLost(ctx)
			wait = e.cfg.Heartbeat
		case err != nil:
			wait = min(trouble.failed(err), e.cfg.Heartbeat)
		default:
			e.renewed()
			trouble.ok()
			wait = jitter(e.cfg.Heartbeat)
		}
	}
}

func (e *engine) renew(ctx context.Context, server int64) error {
	// Half a lease: after a connection that hung there is time for a second one.
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Lease/2)
	defer cancel()
	return e.db.Renew(ctx, server, e.cfg.Lease, e.listening.Load(), e.draining.Load())
}

// leaseLost: another server took this row, and with it all jobs of it. What runs
// here no longer counts; it is cancelled, and new jobs are claimed under a new row.
func (e *engine) leaseLost(ctx context.Context) {
	lost := e.server.Load()
	e.log.Error("lease lost: another server took this server's jobs over; cancelling them here", "server", lost)
	e.held.cancelTaken(e.held.tokens(lost, 0), ErrLeaseLost)
	trouble := &incident{log: e.log, what: "registration after a lost lease"}
	for {
		err := e.register(ctx)
		if err == nil {
			trouble.ok()
			e.held.cancelTaken(e.held.tokens(lost, 0), ErrLeaseLost) // claimed meanwhile under the old row
			e.claimer.wake()
			if err := e.declare(ctx, true); err != nil {
				e.log.Warn("recurring jobs not declared again", "err", err)
			}
			return
		}
		if !sleep(ctx, trouble.failed(err), nil) {
			return
		}
	}
}

// takenEvery bounds the time until a deleted or cancelled job's context ends without
// a notification.
const takenEvery = time.Second

// watchTaken cancels what was deleted, reclaimed or asked to end while it ran here. Jobs
// younger than a look are not asked for: short jobs cost nothing.
func (e *engine) watchTaken(ctx context.Context) {
	trouble := &incident{log: e.log, what: "look for taken jobs"}
	wait := jitter(takenEvery)
	for {
		age := takenEvery / 2
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-e.held.taken:
			age = 0
		case <-timer.C:
		}
		timer.Stop()
		wait = jitter(takenEvery)
		if err := e.markStuck(ctx); err != nil && ctx.Err() == nil {
			wait = trouble.failed(err)
			continue
		}
		server := e.server.Load()
		tokens := e.held.tokens(server, age)
		if len(tokens) == 0 {
			continue
		}
		taken, asked, err := e.db.Taken(ctx, server, tokens)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			wait = trouble.failed(err)
			continue
		}
		unsaid := e.held.cancelAsked(asked)
		if len(taken) > 0 {
			cause := ErrDeleted
			if errors.Is(e.renew(ctx, server), store.ErrLeaseLost) { // all were taken at once, by another server
				cause = ErrLeaseLost
			}
			e.held.cancelTaken(taken, cause)
		}
		switch err := e.acknowledge(ctx, server, unsaid); {
		case err == nil:
			trouble.ok()
		case ctx.Err() == nil:
			wait = trouble.failed(err)
		}
	}
}
