package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// notifyEvery is the mean time between two notifications of one queue by one
	// process: NOTIFY takes a lock that all committing transactions share, and one
	// in every enqueue costs half of their rate (measured).
	notifyEvery = 10 * time.Millisecond
	// notifyBurst is how many can go without a pause after a quiet time: jobs that
	// come now and then, each a little early or late, are all told at once.
	notifyBurst = 10
)

// waking decides which enqueues notify other processes. Those of a quiet queue do
// so inside their statement; under load the others are covered by one late
// notification, without which the end of a burst would wait for a poll.
type waking struct {
	db  *store.DB
	log *slog.Logger

	mu     sync.Mutex
	queues map[string]*queueWaking
}

type queueWaking struct {
	earned time.Time // one notification is earned each notifyEvery; up to here all are spent
	held   bool      // a late notification is due
}

// spend takes one earned notification, or says how long until the next is earned.
func (q *queueWaking) spend(now time.Time) (wait time.Duration) {
	if oldest := now.Add(-notifyBurst * notifyEvery); q.earned.Before(oldest) {
		q.earned = oldest
	}
	next := q.earned.Add(notifyEvery)
	if wait = next.Sub(now); wait > 0 {
		return wait
	}
	q.earned = next
	return 0
}

func newWaking(db *store.DB, log *slog.Logger) *waking {
	return &waking{db: db, log: log, queues: map[string]*queueWaking{}}
}

// lead returns the queues that the statement itself has to notify.
func (w *waking) lead(list []store.NewJob) []string {
	now := time.Now()
	var lead []string
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, queue := range queuesOf(list) {
		q := w.queues[queue]
		if q == nil {
			if len(w.queues) > 10_000 { // names without end: forget the quiet ones
				clear(w.queues)
			}
			q = &queueWaking{}
			w.queues[queue] = q
		}
		if q.held {
			continue
		}
		if wait := q.spend(now); wait > 0 {
			q.held = true
			time.AfterFunc(wait, func() { w.trail(queue, q) })
		} else {
			lead = append(lead, queue)
		}
	}
	return lead
}

// soon notifies a queue within notifyEvery, once for all calls until then.
func (w *waking) soon(queue string) {
	for _, q := range w.lead([]store.NewJob{{Queue: queue}}) {
		go w.now(q)
	}
}

func (w *waking) trail(queue string, q *queueWaking) {
	w.mu.Lock()
	q.held = false
	q.spend(time.Now())
	w.mu.Unlock()
	w.now(queue)
}

// now notifies at once; a failure costs only time, since engines poll.
func (w *waking) now(queues ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := w.db.NotifyQueues(ctx, queues); err != nil {
		w.log.Debug("notification not sent", "queues", queues, "err", err)
	}
}
