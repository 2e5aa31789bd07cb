package jobs

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// maxSettle bounds one statement.
	maxSettle = 1000
	// maxUnsettled bounds what waits: beyond it workers wait with it.
	maxUnsettled = 4 * maxSettle
	// maxData bounds the JSON of one history row.
	maxData = 16 << 10
)

// settler writes outcomes. One goroutine takes whatever has finished while its
// last statement ran: batches size themselves, an idle server settles at once.
type settler struct {
	e *engine

	ctx    context.Context // ends when writing has to be given up
	giveUp context.CancelFunc

	mu      sync.Mutex
	room    *sync.Cond
	waiting []unsettled
	writing []unsettled
	stopped bool
	woken   signal
}

type unsettled struct {
	server      int64
	queue, kind string
	store.Settled
}

func newSettler(e *engine) *settler {
	s := &settler{e: e, woken: newSignal()}
	s.ctx, s.giveUp = context.WithCancel(context.Background())
	s.room = sync.NewCond(&s.mu)
	return s
}

// settled turns a decision into what the store writes.
func (a *attempt) settled(slot int, took time.Duration, d decision) unsettled {
	s := store.Settled{
		ID: a.ID, Attempt: a.Attempt, State: d.State, Outcome: d.Outcome, Cause: d.Cause, Delay: d.Delay,
		Retry: d.Next.Retry, Snoozes: d.Next.Snoozes, Losses: d.Next.Losses,
		Latency: a.waited(), Duration: took, Worker: slot,
		Reason: d.Reason, ErrorType: d.ErrorType, ErrorLine: d.ErrorLine, Fingerprint: d.Fingerprint,
	}
	data := errorData(d)
	if d.State == store.Succeeded {
		data = a.result
	}
	if d.ViaFailed {
		s.FailedReason, s.FailedData = d.FailedReason, data
	} else {
		s.Data = data
	}
	return unsettled{server: a.server, queue: a.Queue, kind: a.Kind, Settled: s}
}

// errorData is the data of the row that tells of the error. It is held to
// maxData by shortening the stack first, then the message.
func errorData(d decision) string {
	if d.ErrorText == "" && d.Rule == "" {
		return ""
	}
	text, stack := d.ErrorText, d.Stack
	for {
		data, err := json.Marshal(struct {
			Error string `json:"error,omitempty"`
			Type  string `json:"error_type,omitempty"`
			Stack string `json:"stack,omitempty"`
			Rule  string `json:"rule,omitempty"`
		}{text, d.ErrorType, stack, d.Rule})
		if err == nil && len(data) <= maxData {
			return string(data)
		}
		if stack != "" {
			stack = cleanText(stack, len(stack)/2)
			if len(stack) < 256 {
				stack = ""
			}
			continue
		}
		if len(text) < 64 {
			return ""
		}
		text = cleanText(text, len(text)/2)
	}
}

// add hands an outcome over; it waits while too many wait already.
func (s *settler) add(u unsettled) {
	s.mu.Lock()
	for len(s.waiting) >= maxUnsettled && s.ctx.Err() == nil {
		s.room.Wait()
	}
	s.waiting = append(s.waiting, u)
	s.mu.Unlock()
	s.woken.send()
}

// stop lets run end when everything is written.
func (s *settler) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	time.AfterFunc(stopPatience, s.giveUp)
	s.woken.send()
}

// stopPatience bounds the writing after stop: a database that is away by then
// gets the outcomes no more, and other servers run the jobs again.
const stopPatience = 10 * time.Second

func (s *settler) run() {
	defer func() {
		s.giveUp()
		s.room.Broadcast()
	}()
	trouble := &incident{log: s.e.log, what: "settle"}
	var pace pace
	for {
		if s.few() {
			sleep(s.ctx, pace.rest(settleGap), nil)
		}
		batch, stopped := s.take()
		pace.saw(int64(len(batch)))
		if len(batch) == 0 {
			if stopped {
				return
			}
			<-s.woken
			continue
		}
		for len(batch) > 0 {
			rest, err := s.write(batch)
			// What may be written already is not written again before that is
			// known: the second time would be refused, as a late result.
			for batch = rest; err != nil; {
				if !sleep(s.ctx, trouble.failed(err), nil) {
					s.e.log.Error("outcomes not written; other servers will run these jobs again", "jobs", len(batch), "err", err)
					return
				}
				batch, err = s.stillOpen(batch)
			}
		}
		trouble.ok()
	}
}

// few says whether what waits may wait a little for more. Where a limit over all servers
// holds, the end of each job makes room for another.
func (s *settler) few() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopped && len(s.waiting) < manyToSettle && len(limitsOf(s.e.claimer.units)) == 0
}

// take moves what waits, up to one statement of one server row, to writing.
func (s *settler) take() (batch []unsettled, stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.waiting) && n < maxSettle && s.waiting[n].server == s.waiting[0].server {
		n++
	}
	s.writing = s.waiting[:n:n]
	if s.waiting = s.waiting[n:]; len(s.waiting) == 0 {
		s.waiting = nil
	}
	s.room.Broadcast()
	return s.writing, s.stopped
}

// write settles the batch and returns what could not be written. When the server
// refuses the content of one row, halves are tried: only that one is left, and
// is written with a text that can be.
func (s *settler) write(batch []unsettled) (rest []unsettled, err error) {
	list := make([]store.Settled, len(batch))
	for i := range batch {
		list[i] = batch[i].Settled
	}
	ctx, cancel := context.WithTimeout(s.ctx, flushTimeout)
	refused, err := s.e.db.Settle(ctx, batch[0].server, list)
	cancel()
	switch {
	case err == nil:
		s.wrote(batch, refused)
		return nil, nil
	case !store.IsData(err):
		return batch, err
	case len(batch) > 1:
		half := len(batch) / 2
		one, err1 := s.write(batch[:half])
		two, err2 := s.write(batch[half:])
		if err1 == nil {
			err1 = err2
		}
		return append(one[:len(one):len(one)], two...), err1
	case batch[0].Reason == unstorableReason:
		return batch, err
	}
	s.e.log.Error("outcome refused by the database; writing it without its text", "job_id", batch[0].ID, "err", err)
	plain := batch[0]
	plain.Data = ""
	if plain.FailedReason != "" {
		plain.FailedData = unstorable
	} else {
		plain.Data = unstorable
	}
	plain.Reason, plain.ErrorType, plain.ErrorLine = unstorableReason, "", unstorableReason
	return s.write([]unsettled{plain})
}

const (
	unstorableReason = "The text of this outcome could not be stored"
	unstorable       = `{"error":"` + unstorableReason + `"}`
)

// stillOpen drops from a batch whose settle had no answer what it wrote all the same.
func (s *settler) stillOpen(batch []unsettled) ([]unsettled, error) {
	tokens := make([]store.Token, len(batch))
	for i, u := range batch {
		tokens[i] = store.Token{ID: u.ID, Attempt: u.Attempt}
	}
	ctx, cancel := context.WithTimeout(s.ctx, flushTimeout)
	defer cancel()
	done, err := s.e.db.Unsettled(ctx, batch[0].server, tokens)
	if err != nil {
		return batch, err
	}
	var open, wrote []unsettled
	for i, u := range batch {
		if done[tokens[i]] {
			wrote = append(wrote, u)
		} else {
			open = append(open, u)
		}
	}
	s.wrote(wrote, nil)
	return open, nil
}

// wrote tells the scheduler, the claimer and the dashboards.
func (s *settler) wrote(batch []unsettled, refused []store.Token) {
	for _, t := range refused {
		s.e.log.Warn("result came too late: the job had been taken from this attempt; kept as a late row", "job_id", t.ID, "attempt", t.Attempt)
	}
	ids := make([]int64, len(batch))
	var ended []int64
	for i, u := range batch {
		ids[i] = u.ID
		if s.e.claimer.limited(u.queue, u.kind) { // there is room for another, here or elsewhere
			s.e.claimer.wake()
			s.e.c.waking.soon(u.queue)
		}
		switch u.State {
		case store.Scheduled:
			s.e.scheduler.in(u.Delay)
		case store.Enqueued:
			s.e.claimer.wake()
		default:
			ended = append(ended, u.ID)
		}
	}
	s.e.c.changes.add(ids...)
	s.e.continuer.after(ended...)
}

func (s *settler) unwritten() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) + len(s.writing)
}

// tokens lists what was handed over and is not known to be written.
func (s *settler) tokens() []store.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]store.Token, 0, len(s.writing)+len(s.waiting))
	for _, u := range s.writing {
		list = append(list, store.Token{ID: u.ID, Attempt: u.Attempt})
	}
	for _, u := range s.waiting {
		list = append(list, store.Token{ID: u.ID, Attempt: u.Attempt})
	}
	return list
}
