package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

// begin takes a claimed job in: on a free slot it starts now, unless the server
// stops.
func (e *engine) begin(c store.Claimed, server int64) {
	a := &attempt{Claimed: c, server: server, since: time.Now(), reports: e.reports}
	h := e.kinds[c.Kind]
	a.policy = e.policyOf(h, c)
	a.timeout = e.timeoutOf(h, c.Timeout)
	e.c.changes.add(c.ID)
	if slot := e.held.add(a, e.draining.Load()); slot > 0 {
		e.workers.Add(1)
		go e.work(slot, e.held.first)
	}
}

func (e *engine) policyOf(h *handler, c store.Claimed) RetryPolicy {
	var own *RetryPolicy
	if c.Policy != "" {
		published, err := ParsePolicy([]byte(c.Policy))
		p, err2 := published.RetryPolicy()
		if err = errors.Join(err, err2); err != nil {
			e.log.Warn("policy of a job cannot be read; its kind's applies", "job_id", c.ID, "err", err)
		} else {
			own = &p
		}
	}
	p, _ := effectivePolicy(own, h.policy, e.cfg.Retry)
	return p
}

func (e *engine) timeoutOf(h *handler, job time.Duration) time.Duration {
	for _, d := range []time.Duration{job, h.timeout} {
		if d > 0 {
			return d
		}
	}
	return e.cfg.Timeout
}

// work runs jobs on one slot until none waits for it.
func (e *engine) work(slot int, take func(slot int) *attempt) {
	returned := false
	defer func() {
		if !returned { // a handler ended this goroutine by Goexit: the slot goes on in another
			go e.work(slot, e.after)
			return
		}
		e.workers.Done()
	}()
	for a := take(slot); a != nil; a = e.after(slot) {
		e.attempt(slot, a)
	}
	returned = true
}

// after ends one run on a slot and wakes the claimer if it waits for room.
func (e *engine) after(slot int) *attempt {
	next := e.held.next(slot)
	if e.held.hunger.CompareAndSwap(true, false) {
		e.claimer.wake()
	}
	return next
}

// attempt is the pipeline of one run: context, handler, classify, decide, settle.
// Each path, Goexit included, ends in exactly one outcome given to the settler.
func (e *engine) attempt(slot int, a *attempt) {
	log := &jobLogger{base: e.log, a: a}
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), loggerKey{}, log))
	defer cancel(nil)
	run := &runningAttempt{a: a, db: e.db, slot: slot, began: time.Now()}
	ctx = context.WithValue(ctx, attemptKey{}, run)
	var res result
	defer func() {
		e.conclude(ctx, log, slot, run, res)
	}()
	if !e.held.start(a, cancel) {
		res.Err, res.Cause = context.Cause(ctx), context.Cause(ctx)
		return
	}
	e.c.waits.add(a.Queue, a.waited())
	if hook := e.cfg.Hooks.Started; hook != nil {
		info, _ := Current(ctx)
		tell(log.get(), "Started", func() { hook(ctx, info) })
	}
	runHandler(ctx, e.handlers[a.Kind], a, &res)
}

func (e *engine) conclude(ctx context.Context, log *jobLogger, slot int, run *runningAttempt, res result) {
	a, took, committed := run.a, time.Since(run.began), run.committed()
	if committed { // what went wrong after the commit undoes nothing
		res = result{}
	}
	if res.failure() != nil {
		res.Upcoming, res.Asked = e.firer.upcoming(a), e.held.askedOf(a)
	}
	d := decide(res, a.policy, a.counters(), rand.Float64)
	for _, fault := range d.Faults {
		log.get().Warn("retry policy misbehaved", "fault", fault)
	}
	if d.ErrorText != "" {
		log.get().Warn("attempt failed", "outcome", d.Reason, "rule", d.Rule, "err", d.ErrorLine)
	}
	if hook := e.cfg.Hooks.Ended; hook != nil {
		info, _ := Current(ctx)
		tell(log.get(), "Ended", func() { hook(info, a.verdict(d, res)) })
	}
	if committed {
		e.c.changes.add(a.ID)
		e.continuer.after(a.ID)
	} else {
		e.settler.add(a.settled(slot, took, d))
	}
	e.held.drop(a)
}

// runHandler calls the handler within the attempt's timeout and writes how it
// ended to res, also when it panics or ends the goroutine.
func runHandler(ctx context.Context, run func(context.Context, *attempt) error, a *attempt, res *result) {
	res.Timeout = a.timeout
	if a.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, a.timeout)
		defer stop()
	}
	returned := false
	defer func() {
		if !returned {
			if value := recover(); value != nil {
				*res = panicResult(value, debug.Stack())
			} else {
				*res = goexitResult(debug.Stack())
			}
		}
		res.Timeout, res.Cause = a.timeout, context.Cause(ctx)
		res.TimedOut = errors.Is(res.Cause, context.DeadlineExceeded)
	}()
	res.Err = run(ctx, a)
	returned = true
}

type loggerKey struct{}

// jobLogger makes the logger of an attempt when somebody asks for it: most
// attempts never log.
type jobLogger struct {
	base *slog.Logger
	a    *attempt
	once sync.Once
	l    *slog.Logger
}

func (j *jobLogger) get() *slog.Logger {
	j.once.Do(func() {
		j.l = j.base.With("job_id", j.a.ID, "kind", j.a.Kind, "queue", j.a.Queue, "attempt", j.a.Attempt)
	})
	return j.l
}

// Logger returns the logger of the running job, with job_id, kind, queue and
// attempt set; slog.Default outside of one.
func Logger(ctx context.Context) *slog.Logger {
	if l, ok := ctx.Value(loggerKey{}).(*jobLogger); ok {
		return l.get()
	}
	return slog.Default()
}
