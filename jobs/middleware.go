package jobs

import (
	"context"
	"log/slog"
	"runtime/debug"
)

// HandlerFunc runs one attempt of any kind.
type HandlerFunc func(context.Context, AttemptInfo) error

// Middleware wraps the handlers of all kinds (Config.Middleware) or of one
// (option Use). The first in a list is the outermost; the client's are around
// the kind's. What it returns is the attempt's outcome, and a panic in it is a
// failed attempt like the handler's own.
type Middleware func(next HandlerFunc) HandlerFunc

// Use wraps the handler of one kind.
func Use(m ...Middleware) HandleOption {
	return func(h *handler) error {
		for _, one := range m {
			if one == nil {
				return inputError("middleware", "is nil")
			}
		}
		h.middleware = append(h.middleware, m...)
		return nil
	}
}

// wrapped is the handler within its middleware.
func (h *handler) wrapped(outer []Middleware) func(context.Context, *attempt) error {
	all := append(append([]Middleware(nil), outer...), h.middleware...)
	if len(all) == 0 {
		return h.run
	}
	return func(ctx context.Context, a *attempt) error {
		run := HandlerFunc(func(ctx context.Context, _ AttemptInfo) error { return h.run(ctx, a) })
		for i := len(all) - 1; i >= 0; i-- {
			run = all[i](run)
		}
		info, _ := Current(ctx)
		return run(ctx, info)
	}
}

// Hooks are told what happens; they cannot change it. Each is called in the
// goroutine of the work and should return soon. A hook that panics is logged,
// and nothing else comes of it.
type Hooks struct {
	// Enqueuing is called at the begin of each Enqueue, EnqueueRaw, EnqueueMany and
	// their Tx forms, with the context of the caller and the kinds of the jobs. The
	// trace that it returns is stored with the jobs, and their attempts find it in
	// AttemptInfo: a W3C traceparent and, after a newline, a tracestate; at most 1,000
	// bytes. ended, if not nil, is told what became of the call; jobs in a caller's
	// transaction are not committed by then. Jobs of recurring jobs have no caller.
	Enqueuing func(ctx context.Context, kinds []string) (trace string, ended func([]EnqueueResult, error))
	// Enqueued is called after the commit of Enqueue, EnqueueRaw and EnqueueMany,
	// duplicates included; not for jobs in a caller's transaction, whose commit
	// nobody here sees.
	Enqueued func([]EnqueueResult)
	// Started is called before the handler, with its context.
	Started func(context.Context, AttemptInfo)
	// Ended is called when the attempt is judged and before that is written: a
	// result that comes too late is refused afterwards.
	Ended func(AttemptInfo, Verdict)
}

// tell calls a hook and survives it.
func tell(log *slog.Logger, name string, hook func()) {
	defer func() {
		if value := recover(); value != nil {
			log.Error("hook panicked", "hook", name, "panic", describe(value), "stack", trimStack(string(debug.Stack())))
		}
	}()
	hook()
}
