package jobs

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/store"
)

// warnEvery is how often a server looks, jittered.
const warnEvery = time.Minute

// watchFirstAttempts tells the webhook of each episode once. Every server with a
// webhook looks; the episode's begin is the unique key of its job, and the first one
// enqueues it.
func (e *engine) watchFirstAttempts(ctx context.Context) {
	trouble := &incident{log: e.log, what: "early warning"}
	for sleep(ctx, jitter(warnEvery), nil) {
		if _, err := e.c.Warn(ctx); err != nil {
			if ctx.Err() != nil || !sleep(ctx, trouble.failed(err), nil) {
				return
			}
			continue
		}
		trouble.ok()
	}
}

// Warn looks once, as Run does every minute when Config.Webhook is set: it judges
// the first attempts of all kinds and, at the begin of an episode, enqueues the job
// that tells the webhook. An episode whose job is there already, or whose begin is out
// of sight, is told no more. Without Config.Webhook it only judges.
func (c *Client) Warn(ctx context.Context) (Warning, error) {
	minutes, err := c.db.Attempts(ctx, WarnedSpan, time.Minute, store.AttemptFilter{})
	if err != nil {
		return Warning{}, err
	}
	past, err := c.db.AttemptPast(ctx, WarnedSpan, store.AttemptFilter{})
	if err != nil {
		return Warning{}, err
	}
	w := EarlyWarning(minutes, NewBaseline(past.Hours))
	if !w.On || !w.Began || c.cfg.Webhook == "" {
		return w, nil
	}
	h := c.handlerOf(WarningKind)
	told, err := c.Enqueue(ctx, noteOf(w), Queue(h.queue), Unique(warningKey(w.Since), For(webhookKept)))
	if err == nil && !told.Duplicate {
		c.log.Warn("first attempts succeed less often than usual", "since", w.Since, "rate", float64(w.FirstOK)/float64(max(w.First, 1)), "baseline", w.Baseline, "job_id", told.ID)
	}
	return w, err
}
