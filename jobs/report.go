package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	// MaxLogLine is the longest line of a job's log in bytes; longer ones are cut
	// with a visible mark.
	MaxLogLine = 2000
	// MaxLogLines is how many lines one attempt can write; a last line says that
	// more were dropped.
	MaxLogLines = 1000
	// reportEvery is the shortest time between two writes of what handlers say.
	reportEvery = time.Second
)

// Log adds a line to the job's page, formatted as by fmt.Sprintf. It never
// fails and never waits for the database: lines are written about once a second,
// and at the latest before the attempt's outcome.
func (j *Job[T]) Log(format string, args ...any) {
	if j.attempt != nil {
		j.attempt.log(fmt.Sprintf(format, args...))
	}
}

// Progress shows on the job's page how far the work is: done of total (0:
// unknown), and a message. The last call of each second is written.
func (j *Job[T]) Progress(done, total int64, message string) {
	if j.attempt != nil {
		j.attempt.progress(done, total, message)
	}
}

func (a *attempt) log(line string) {
	a.said.mu.Lock()
	n := a.said.lines
	a.said.lines++
	a.said.mu.Unlock()
	switch {
	case n > MaxLogLines:
		return
	case n == MaxLogLines:
		line = fmt.Sprintf("… the log of an attempt ends after %d lines", MaxLogLines)
	}
	a.reports.line(store.LogLine{JobID: a.ID, Attempt: a.Attempt, At: time.Now(), Line: cleanText(line, MaxLogLine)})
}

func (a *attempt) progress(done, total int64, message string) {
	a.reports.progress(store.Progress{JobID: a.ID, Attempt: a.Attempt, Done: max(0, done), Total: max(0, total), Message: cleanText(message, MaxLogLine)})
}

// said counts what one attempt wrote.
type said struct {
	mu    sync.Mutex
	lines int
}

// reports gathers what all handlers of this process say and writes it in one
// transaction, at most once a second.
type reports struct {
	e *engine

	mu      sync.Mutex
	lines   []store.LogLine
	latest  map[int64]store.Progress
	pending bool
	last    time.Time
	idle    *sync.Cond
}

func newReports(e *engine) *reports {
	r := &reports{e: e, latest: map[int64]store.Progress{}}
	r.idle = sync.NewCond(&r.mu)
	return r
}

func (r *reports) line(l store.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
	r.plan()
}

func (r *reports) progress(p store.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest[p.JobID] = p
	r.plan()
}

// plan has what is pending written when the last write is a second ago.
func (r *reports) plan() {
	if r.pending {
		return
	}
	r.pending = true
	time.AfterFunc(max(0, reportEvery-time.Since(r.last)), r.write)
}

func (r *reports) write() {
	r.mu.Lock()
	lines, latest := r.lines, r.latest
	r.lines, r.latest, r.last = nil, map[int64]store.Progress{}, time.Now()
	r.mu.Unlock()

	progress := make([]store.Progress, 0, len(latest))
	ids := map[int64]struct{}{}
	for id, p := range latest {
		progress = append(progress, p)
		ids[id] = struct{}{}
	}
	for _, l := range lines {
		ids[l.JobID] = struct{}{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	if err := r.e.db.Report(ctx, lines, progress); err != nil {
		r.e.log.Warn("what handlers said was not written", "lines", len(lines), "err", err)
	}
	cancel()
	for id := range ids {
		r.e.c.changes.add(id)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = false
	if len(r.lines) > 0 || len(r.latest) > 0 {
		r.plan()
		return
	}
	r.idle.Broadcast()
}

// wait returns when everything is written.
func (r *reports) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.pending {
		r.idle.Wait()
	}
}
