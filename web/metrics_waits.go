package web

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// serverWaits is what the client of this dashboard counted in its own process. The
// settle statement keeps sums of waits only: a bucket there would multiply its rows.
func (s *metrics) serverWaits(_ context.Context, d *Dashboard) (g gathered, err error) {
	type sum struct {
		spent
		buckets map[float64]uint64
	}
	all := map[string]*sum{}
	for _, w := range d.client.Waits() {
		name := s.queueSet.label(w.Queue)
		if all[name] == nil {
			all[name] = &sum{buckets: map[float64]uint64{}}
		}
		one, upTo := all[name], uint64(0)
		for i, n := range w.Counts {
			upTo += uint64(n)
			if i < len(w.Bounds) {
				one.buckets[w.Bounds[i].Seconds()] += upTo
			}
		}
		one.add(int64(upTo), w.Sum)
	}
	for name, one := range all {
		g = append(g, prometheus.MustNewConstHistogram(descServerWait, one.n, one.seconds, one.buckets, name))
	}
	return g, nil
}
