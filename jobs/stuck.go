package jobs

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/store"
)

// markStuck finds attempts that run on although their timeout and the grace are
// over, says so in the log, and marks them for the dashboard. Such a handler
// keeps its slot, and the job stays its own: a second run beside it would do the
// work twice.
func (e *engine) markStuck(ctx context.Context) error {
	server := e.server.Load()
	var tokens []store.Token
	for _, a := range e.held.overdue(server, e.cfg.StopGrace) {
		e.log.Error("handler runs on past its timeout", "job_id", a.ID, "kind", a.Kind, "attempt", a.Attempt, "timeout", a.timeout)
		tokens = append(tokens, a.token())
	}
	if len(tokens) == 0 {
		return nil
	}
	if err := e.db.MarkStuck(ctx, server, tokens); err != nil {
		return err
	}
	for _, t := range tokens {
		e.c.changes.add(t.ID)
	}
	return nil
}

// overdue lists, each once, attempts that started longer than their timeout and
// grace ago.
func (h *held) overdue(server int64, grace time.Duration) []*attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*attempt
	for _, a := range h.live {
		if a.server == server && a.timeout > 0 && !a.stuck && !a.began.IsZero() && time.Since(a.began) > a.timeout+grace {
			a.stuck = true
			list = append(list, a)
		}
	}
	return list
}
