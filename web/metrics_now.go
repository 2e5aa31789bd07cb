package web

import (
	"context"
	"time"

	"github.com/tekrar/tekrar/store"
)

// queues are the queues as they are. Those without a label of their own are one:
// their sums, and the longest wait.
func (s *metrics) queues(ctx context.Context, d *Dashboard) (g gathered, err error) {
	rows, err := d.db.Queues(ctx)
	if err != nil {
		return nil, err
	}
	type sum struct{ depth, oldest, running, servers, paused float64 }
	all := map[string]*sum{}
	for _, q := range rows {
		name := s.queueSet.label(q.Name)
		if all[name] == nil {
			all[name] = &sum{}
		}
		one := all[name]
		one.depth += float64(q.Depth.N)
		one.running += float64(q.Running)
		one.servers = max(one.servers, float64(q.Servers))
		if q.OldestReady != nil {
			one.oldest = max(one.oldest, d.clock.now().Sub(*q.OldestReady).Seconds())
		}
		if q.PausedAt != nil {
			one.paused = 1
		}
	}
	for name, one := range all {
		g = append(g, gauge(descDepth, one.depth, name), gauge(descOldest, one.oldest, name), gauge(descRunning, one.running, name),
			gauge(descTakers, one.servers, name), gauge(descPaused, one.paused, name))
	}
	return g, nil
}

func (s *metrics) states(ctx context.Context, d *Dashboard) (g gathered, err error) {
	counts, err := d.db.Counts(ctx)
	if err != nil {
		return nil, err
	}
	for state, n := range counts {
		g = append(g, gauge(descJobs, float64(n.N), state.String()))
	}
	pending, err := d.db.Pending(ctx)
	return append(g, gauge(descRetrying, float64(pending.Retrying))), err
}

func (s *metrics) claims(ctx context.Context, d *Dashboard) (gathered, error) {
	n, err := d.db.EffectTotals(ctx)
	return gathered{
		gauge(descClaims, float64(max(0, n[store.TabUnsettled].N-n[store.TabUnknown].N)), "held"),
		gauge(descClaims, float64(n[store.TabUnknown].N), "unknown"),
		gauge(descClaims, float64(n[store.TabDone].N), "done"),
		gauge(descClaims, float64(n[store.TabReleased].N), "released"),
	}, err
}

func (s *metrics) duplicates(ctx context.Context, d *Dashboard) (gathered, error) {
	n, err := d.db.DuplicatesSince(ctx, 24*time.Hour)
	return gathered{gauge(descDuplicates, float64(n.N))}, err
}

func (s *metrics) servers(ctx context.Context, d *Dashboard) (gathered, error) {
	rows, err := d.servers(ctx)
	var live, draining, stopped, lost, slots, busy float64
	for _, row := range rows {
		switch {
		case row.LostAt != nil:
			lost++
		case row.StoppedAt != nil:
			stopped++
		case isLive(row):
			live++
			slots, busy = slots+float64(row.Slots), busy+float64(row.Running)
			if row.DrainingAt != nil {
				draining++
			}
		}
	}
	return gathered{
		gauge(descServers, live, "live"), gauge(descServers, draining, "draining"), gauge(descServers, stopped, "stopped"), gauge(descServers, lost, "lost"),
		gauge(descSlots, slots), gauge(descBusy, busy),
	}, err
}
