package jobs

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tekrar/tekrar/store"
)

// attempt is one claimed job on its way through this process.
type attempt struct {
	store.Claimed
	server  int64
	policy  RetryPolicy
	timeout time.Duration
	cancel  context.CancelCauseFunc // nil until it runs
	cause   error                   // why it was cancelled before it ran
	since   time.Time               // claimed here, local clock
	began   time.Time               // its handler was called; zero while it is buffered
	stuck   bool                    // runs on past its timeout, and that was said
	asked   *store.CancelRequest    // a person asked it to end

	reports *reports
	said    said
	result  string // {"result": …}, set by the handler; only its goroutine touches it
}

func (a *attempt) token() store.Token { return store.Token{ID: a.ID, Attempt: a.Attempt} }

// waited is the time from ready to start. Both are instants of the database's clock.
func (a *attempt) waited() time.Duration { return max(0, a.StartedAt.Sub(a.ReadyAt)) }

func (a *attempt) counters() counters {
	return counters{Attempt: a.Attempt, Retry: a.Retry, Losses: a.Losses, Snoozes: a.Snoozes}
}

// held is what this process has claimed: the worker slots, the jobs that run on
// them, and a small buffer of jobs that wait for one.
type held struct {
	mu       sync.Mutex
	free     []int // worker slots, 1-based
	starting int   // slots whose worker was started and has not asked for a job yet
	workers  int
	buffer   []*attempt
	live     map[int64]*attempt // by job id: buffered or running, not yet handed to the settler
	perQueue map[string]int     // live jobs
	finished int64              // since the last look of the claimer
	taken    signal             // look for taken jobs now

	hunger atomic.Bool // the claimer had no room: wake it when there is some
}

func newHeld(workers int) *held {
	h := &held{workers: workers, live: map[int64]*attempt{}, perQueue: map[string]int{}, taken: newSignal()}
	for i := workers; i >= 1; i-- {
		h.free = append(h.free, i)
	}
	return h
}

// add takes a claimed job in. slot > 0: start a worker on it, which takes the
// job that is first by then; 0: all slots are taken, or closing is set.
func (h *held) add(a *attempt, closing bool) (slot int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[a.ID] = a
	h.perQueue[a.Queue]++
	h.buffer = append(h.buffer, a)
	if n := len(h.free); n > 0 && !closing {
		slot, h.free = h.free[n-1], h.free[:n-1]
		h.starting++
	}
	return slot
}

// first gives a started worker its first job, nil when others were faster: a
// short job's worker takes the next one before another worker got the processor.
func (h *held) first(slot int) *attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.starting--
	return h.pop(slot)
}

// next ends one run on a slot and gives the slot its next job, nil when none
// waits; the slot is free then.
func (h *held) next(slot int) *attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.finished++
	return h.pop(slot)
}

func (h *held) pop(slot int) *attempt {
	if len(h.buffer) == 0 {
		h.free = append(h.free, slot)
		return nil
	}
	a := h.buffer[0]
	h.buffer[0] = nil
	h.buffer = h.buffer[1:]
	return a
}

// drop forgets a job that was handed to the settler.
func (h *held) drop(a *attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live[a.ID] == a {
		delete(h.live, a.ID)
	}
	if h.perQueue[a.Queue]--; h.perQueue[a.Queue] <= 0 {
		delete(h.perQueue, a.Queue)
	}
}

// room is how many jobs may be claimed now: free slots, and ahead for a buffer.
func (h *held) room(ahead int) (room int, finished int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	finished, h.finished = h.finished, 0
	return max(0, len(h.free)+h.starting+ahead-len(h.buffer)), finished
}

// full reports that not even a buffered job has room.
func (h *held) full(ahead int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.free)+h.starting+ahead-len(h.buffer) <= 0
}

func (h *held) ofQueue(queue string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.perQueue[queue]
}

func (h *held) takeBuffered() []*attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.buffer
	h.buffer = nil
	return b
}

// start makes a's context cancellable from here; false: it was cancelled while
// it waited in the buffer.
func (h *held) start(a *attempt, cancel context.CancelCauseFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.cancel, a.began = cancel, time.Now()
	if a.cause != nil {
		cancel(a.cause)
		return false
	}
	return true
}

func (a *attempt) stop(cause error) {
	if a.cancel != nil {
		a.cancel(cause)
	} else if a.cause == nil {
		a.cause = cause
	}
}

func (h *held) cancelAll(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.live {
		a.stop(cause)
	}
}

// cancelTaken cancels the attempts whose tokens no longer hold their jobs.
func (h *held) cancelTaken(tokens []store.Token, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range tokens {
		if a := h.live[t.ID]; a != nil && a.Attempt == t.Attempt {
			a.stop(cause)
		}
	}
}

// tokens lists attempts of a server claimed longer than age ago.
func (h *held) tokens(server int64, age time.Duration) []store.Token {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []store.Token
	for _, a := range h.live {
		if a.server == server && time.Since(a.since) >= age {
			list = append(list, a.token())
		}
	}
	return list
}

func (h *held) all() []store.Token {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]store.Token, 0, len(h.live))
	for _, a := range h.live {
		list = append(list, a.token())
	}
	return list
}

func (h *held) running() []*attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*attempt
	for _, a := range h.live {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *attempt) int { return int(a.ID - b.ID) })
	return list
}

// look asks for a look at once: some job was taken away somewhere.
func (h *held) look() { h.taken.send() }
