package web

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tekrar/tekrar/store"
)

type endedKey struct{ kind, outcome, attempt string }

type spent struct {
	n       uint64
	seconds float64
}

func (s *spent) add(n int64, d time.Duration) { s.n, s.seconds = s.n+uint64(n), s.seconds+d.Seconds() }

type runKey struct {
	kind   string
	bucket int
}

// totals are counters, by label.
type totals struct {
	ended map[endedKey]int64
	run   map[runKey]spent // by bucket, not cumulative
	wait  map[string]spent
}

func newTotals() totals {
	return totals{ended: map[endedKey]int64{}, run: map[runKey]spent{}, wait: map[string]spent{}}
}

func (t totals) clone() totals {
	return totals{ended: maps.Clone(t.ended), run: maps.Clone(t.run), wait: maps.Clone(t.wait)}
}

func (t totals) add(s store.StatSum, kind, queue string) {
	attempt := strconv.Itoa(s.Attempt)
	if s.Attempt >= 4 {
		attempt = "4+"
	}
	t.ended[endedKey{kind, outcomeName(s.Outcome), attempt}] += s.N
	if judged(s.Outcome) {
		run := t.run[runKey{kind, s.Bucket}]
		run.add(s.N, s.Run)
		t.run[runKey{kind, s.Bucket}] = run
	}
	wait := t.wait[queue]
	wait.add(s.N, s.Wait)
	t.wait[queue] = wait
}

// judged outcomes say something about the work: it succeeded or failed.
func judged(o store.Outcome) bool { return o >= store.OutcomeSucceeded && o <= store.OutcomeExceeded }

// ended counts what ended. Minutes that change no more are added for good, the
// others anew with each reading.
func (s *metrics) ended(ctx context.Context, d *Dashboard) (g gathered, err error) {
	sums, next, err := d.db.StatsSince(ctx, s.since)
	if err != nil {
		return nil, err
	}
	now, first, firstOK := s.settled.clone(), int64(0), int64(0)
	for _, sum := range sums {
		kind, queue := s.kinds.label(sum.Kind), s.queueSet.label(sum.Queue)
		now.add(sum, kind, queue)
		if sum.Settled {
			s.settled.add(sum, kind, queue)
		} else if sum.Attempt == 1 && judged(sum.Outcome) {
			first += sum.N
			if sum.Outcome == store.OutcomeSucceeded {
				firstOK += sum.N
			}
		}
	}
	s.since = next
	for k, n := range now.ended {
		g = append(g, prometheus.MustNewConstMetric(descEnded, prometheus.CounterValue, float64(n), k.kind, k.outcome, k.attempt))
	}
	if first > 0 {
		g = append(g, gauge(descFirstRatio, float64(firstOK)/float64(first)))
	}
	for queue, w := range now.wait {
		g = append(g, prometheus.MustNewConstSummary(descWait, w.n, w.seconds, nil, queue))
	}
	return append(g, now.histograms()...), nil
}

func (t totals) histograms() (g gathered) {
	kinds := map[string]bool{}
	for k := range t.run {
		kinds[k.kind] = true
	}
	for kind := range kinds {
		buckets, all := map[float64]uint64{}, spent{}
		for i := range len(store.BucketBounds) + 1 {
			one := t.run[runKey{kind, i}]
			all.n, all.seconds = all.n+one.n, all.seconds+one.seconds
			if i < len(store.BucketBounds) {
				buckets[store.BucketBounds[i].Seconds()] = all.n
			}
		}
		g = append(g, prometheus.MustNewConstHistogram(descRun, all.n, all.seconds, buckets, kind))
	}
	return g
}
