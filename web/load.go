package web

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// load reads one part of a page. A part that fails or takes too long is said on
// the page in its place, so its error goes to the log only; ok is false then.
func load[T any](ctx context.Context, d *Dashboard, what string, read func(context.Context) (T, error)) (v T, ok bool) {
	v, err := read(ctx)
	if err != nil {
		d.log.Warn("dashboard: part of a page could not be read", "part", what, "too_slow", ctx.Err() != nil, "error", err)
	}
	return v, err == nil
}

// cut makes an error of a read that ran into the page's time recognisable: a
// cancelled statement has an error of its own.
func cut(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.DeadlineExceeded, err)
	}
	return err
}

// health reads the numbers of the verdict and the tiles, and the queues they come
// from, beside the last hour by the minute, which it is given; at most five queries.
func (d *Dashboard) health(ctx context.Context, hour []store.AttemptBucket, ok4 bool) (views.HealthProps, []store.QueueRow, handledKinds) {
	counts, ok1 := load(ctx, d, "counts", d.db.Counts)
	servers, ok2 := load(ctx, d, "servers", d.servers)
	queues, ok3 := load(ctx, d, "queues", d.db.Queues)
	p := views.HealthProps{
		Waiting: presentCount(counts[store.Enqueued]), Processing: presentCount(counts[store.Processing]),
		Failed: presentCount(counts[store.Failed]), Hour: presentBuckets(hour), Never: ok1 && noCounts(presentCounts(counts)),
	}
	pending, err := d.db.Pending(ctx)
	p.Retrying, p.NextRetry, p.Unsettled = views.Count{N: pending.Retrying}, pending.NextRetry, presentCount(pending.Unsettled)
	p.LoadFailed = !(ok1 && ok2 && ok3 && ok4) || err != nil
	for _, s := range servers {
		if isLive(s) {
			p.LiveServers++
			p.Slots += s.Slots
		}
		if s.LostAt != nil && s.Now.Sub(*s.LostAt) < time.Hour {
			p.LostServers++
		}
	}
	for _, q := range queues {
		if q.OldestReady != nil && (p.OldestReady == nil || q.OldestReady.Before(*p.OldestReady)) {
			p.OldestReady = q.OldestReady
		}
		if q.PausedAt != nil {
			p.Paused = append(p.Paused, q.Name)
		}
	}
	if !ok2 {
		return p, queues, nil
	}
	known := handled(servers)
	p.Unhandled = d.unhandled(ctx, known, p.Waiting.N)
	return p, queues, known
}

// unhandled are the kinds of the jobs that wait longest which no live server runs.
// Jobs of handled kinds get out of the way, so these collect at the front.
func (d *Dashboard) unhandled(ctx context.Context, known handledKinds, waiting int64) []string {
	if waiting == 0 {
		return nil
	}
	front, ok := load(ctx, d, "oldest waiting", func(ctx context.Context) ([]store.JobRow, error) {
		rows, _, err := d.db.Jobs(ctx, store.JobFilter{State: store.Enqueued, Limit: 20})
		return rows, err
	})
	if !ok {
		return nil
	}
	var out []string
	for _, j := range front {
		if !known[j.Kind] && !slices.Contains(out, j.Kind) {
			out = append(out, j.Kind)
		}
	}
	return out
}
