package web

import (
	"context"
	"sync"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// pastSeen keeps the days before for a while: they change little, and live pages look
// twice a second.
type pastSeen struct {
	mu  sync.Mutex
	all map[pastKey]pastRead
}

type pastKey struct {
	span time.Duration
	of   store.AttemptFilter
}

type pastRead struct {
	at   time.Time
	past store.AttemptPast
}

const (
	pastFresh = time.Minute
	pastsMax  = 100 // filters come from addresses: there is no end to them
)

// pastLately is what the days before say about a span of time.
func (d *Dashboard) pastLately(ctx context.Context, span time.Duration, of store.AttemptFilter) (store.AttemptPast, bool) {
	of.Version = "" // whatever runs now compares with what was usual
	s, key := &d.past, pastKey{span, of}
	s.mu.Lock()
	seen := s.all[key]
	s.mu.Unlock()
	if !seen.at.IsZero() && time.Since(seen.at) < pastFresh {
		return seen.past, true
	}
	past, ok := load(ctx, d, "the days before", func(ctx context.Context) (store.AttemptPast, error) {
		return d.db.AttemptPast(ctx, span, of)
	})
	if !ok {
		return past, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil || len(s.all) >= pastsMax {
		s.all = map[pastKey]pastRead{}
	}
	s.all[key] = pastRead{time.Now(), past}
	return past, true
}

// chart reads the attempt distribution for a chart that says which one it is; two
// queries. Without the days before there is no baseline.
func (d *Dashboard) chart(ctx context.Context, p views.ChartProps) views.ChartProps {
	rows, ok := load(ctx, d, "attempts", func(ctx context.Context) ([]store.AttemptBucket, error) {
		return d.db.Attempts(ctx, p.Span, p.Width, attemptsOf(p))
	})
	if p.LoadFailed = !ok; !ok {
		return p
	}
	past, _ := d.pastLately(ctx, p.Span, attemptsOf(p))
	return presentChart(p, rows, jobs.NewBaseline(past.Hours))
}

func attemptsOf(p views.ChartProps) store.AttemptFilter {
	return store.AttemptFilter{Kind: p.Kind, Queue: p.Queue, Version: p.CodeVersion}
}

// retryWork reads what retries cost; two queries.
func (d *Dashboard) retryWork(ctx context.Context, p views.ChartProps) views.WorkProps {
	kinds, ok := load(ctx, d, "attempts by kind", func(ctx context.Context) ([]store.AttemptKind, error) {
		return d.db.AttemptKinds(ctx, p.Span, p.Width, attemptsOf(p))
	})
	delay, known := load(ctx, d, "delay by retries", func(ctx context.Context) (store.RetryDelay, error) {
		return d.db.RetryDelay(ctx, p.Span, attemptsOf(p))
	})
	w := views.WorkProps{
		LoadFailed: !ok, DelayFailed: !known,
		Looked: delay.Looked, Retried: delay.Retried, Since: delay.Since, Median: delay.Median, P95: delay.P95,
	}
	for _, k := range kinds {
		w.Kinds = append(w.Kinds, views.KindWorkProps{
			Kind: k.Kind, First: k.First, FirstOK: k.FirstOK, Attempts: k.Attempts, Run: k.Run, RetryRun: k.RetryRun, Late: k.Late, LateExhausted: k.LateExhausted,
		})
	}
	return w
}

// presentChart fills a chart and compares its rates with what is usual.
func presentChart(p views.ChartProps, rows []store.AttemptBucket, usual jobs.Baseline) views.ChartProps {
	p.Buckets = presentBuckets(rows)
	var first, firstOK, weighed int64
	var sum float64
	for i := range p.Buckets {
		b := &p.Buckets[i]
		b.Rate.Low, b.Rate.High = jobs.Wilson(b.FirstOK, b.First)
		b.Rate.Baseline, _ = usual.At(b.At, p.Width)
		first, firstOK = first+b.First, firstOK+b.FirstOK
		if b.Rate.Baseline > 0 {
			weighed += b.First
			sum += b.Rate.Baseline * float64(b.First)
		}
	}
	p.Rate.Low, p.Rate.High = jobs.Wilson(firstOK, first)
	if weighed > 0 {
		p.Rate.Baseline = sum / float64(weighed)
	}
	return p
}

// widened adds minutes up to the newest n buckets of a width, which hold to the
// clock as those of store.DB.Attempts do.
func widened(minutes []store.AttemptBucket, width time.Duration, n int) []store.AttemptBucket {
	if len(minutes) == 0 {
		return nil
	}
	last := minutes[len(minutes)-1].At.Truncate(width)
	out := make([]store.AttemptBucket, n)
	for i := range out {
		out[i].At = last.Add(-time.Duration(n-1-i) * width)
	}
	for _, m := range minutes {
		i := n - 1 - int(last.Sub(m.At.Truncate(width))/width)
		if i < 0 {
			continue
		}
		b := &out[i]
		for a, k := range m.ByAttempt {
			b.ByAttempt[a] += k
		}
		b.Exhausted += m.Exhausted
		b.Permanent += m.Permanent
		b.First += m.First
		b.FirstOK += m.FirstOK
	}
	return out
}

func presentWarning(w jobs.Warning) *views.WarningProps {
	if !w.On {
		return nil
	}
	return &views.WarningProps{Since: w.Since, Began: w.Began, First: w.First, FirstOK: w.FirstOK, Baseline: w.Baseline}
}
