package jobs

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/store"
)

// WaitHistogram tells how long the attempts of one queue waited from ready to start.
type WaitHistogram struct {
	Queue string
	// Bounds are upper bounds, from 1 ms to 2 h; do not change them.
	Bounds []time.Duration
	// Counts has one number more than Bounds: those up to each bound and above the
	// one before, at last those above all.
	Counts []int64
	// Sum of all waits.
	Sum time.Duration
}

// Waits gives the waits of the attempts that this client started since New, by
// queue, sorted. Other processes count their own: add them up where they are read.
// A retry waits from the moment at which it became ready.
func (c *Client) Waits() (all []WaitHistogram) {
	c.waits.Range(func(queue, counted any) bool {
		w := counted.(*waitCount)
		h := WaitHistogram{Queue: queue.(string), Bounds: store.BucketBounds, Counts: make([]int64, len(w.buckets)), Sum: time.Duration(w.sum.Load())}
		for i := range w.buckets {
			h.Counts[i] = w.buckets[i].Load()
		}
		all = append(all, h)
		return true
	})
	slices.SortFunc(all, func(a, b WaitHistogram) int { return cmp.Compare(a.Queue, b.Queue) })
	return all
}

// waitCounts are by queue. There are as many as the client serves, so none is ever
// dropped; no lock, because every start passes here.
type waitCounts struct{ sync.Map } // of *waitCount

type waitCount struct {
	sum     atomic.Int64
	buckets []atomic.Int64
}

func (w *waitCounts) add(queue string, d time.Duration) {
	counted, ok := w.Load(queue)
	if !ok {
		counted, _ = w.LoadOrStore(queue, &waitCount{buckets: make([]atomic.Int64, len(store.BucketBounds)+1)})
	}
	one := counted.(*waitCount)
	one.sum.Add(int64(d))
	one.buckets[store.Bucket(d)].Add(1)
}
