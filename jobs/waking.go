package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

// notifyEvery is the shortest time between two notifications of one queue by one
// process: NOTIFY takes a lock that all committing transactions share, and one
// in every enqueue costs half of their rate (measured).
const notifyEvery = 10 * time.Millisecond

// waking decides which enqueues notify other processes. The first one of a burst
// does so inside its statement; those within the next 10 ms are covered by one
// late notification, without which the end of a burst would wait for a poll.
type waking struct {
	db  *store.DB
	log *slog.Logger

	mu     sync.Mutex
	queues map[string]*queueWaking
}

type queueWaking struct {
	last time.Time
	held bool // a late notification is due
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
		switch since := now.Sub(q.last); {
		case since >= notifyEvery && !q.held:
			q.last = now
			lead = append(lead, queue)
		case !q.held:
			q.held = true
			time.AfterFunc(notifyEvery-since, func() { w.trail(queue, q) })
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
	q.last, q.held = time.Now(), false
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
