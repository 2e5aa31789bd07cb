package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// engine is what a process that runs jobs does with the store, by hand.
type engine struct {
	*testing.T
	ctx    context.Context
	db     *store.DB
	server int64
}

func writeSetup(t *testing.T) *engine {
	t.Helper()
	t.Parallel()
	return newEngine(t, storetest.New(t))
}

func newEngine(t *testing.T, db *store.DB) *engine {
	t.Helper()
	e := &engine{T: t, ctx: t.Context(), db: db}
	e.server = e.register("one")
	return e
}

func (e *engine) register(name string) int64 {
	e.Helper()
	id, err := e.db.Register(e.ctx, store.NewServer{Name: name, Host: "h", PID: 1, Slots: 10, Queues: []string{"default"}, Kinds: []string{"k"}, Lease: time.Hour})
	if err != nil {
		e.Fatal(err)
	}
	return id
}

// expire lets the lease of a server end.
func (e *engine) expire(server int64) {
	e.Helper()
	e.exec(`update tekrar.servers set lease_until = clock_timestamp() - interval '1 s' where id = $1`, server)
}

// exec writes what no function of the store writes.
func (e *engine) exec(text string, args ...any) {
	e.Helper()
	tx, err := e.db.Begin()
	if err == nil {
		defer tx.Rollback()
		if _, err = tx.Exec(text, args...); err == nil {
			err = tx.Commit()
		}
	}
	if err != nil {
		e.Fatal(err)
	}
}

func (e *engine) enqueue(jobs ...store.NewJob) (ids []int64) {
	e.Helper()
	for i := range jobs {
		if jobs[i].Queue == "" {
			jobs[i].Queue = "default"
		}
		if jobs[i].Kind == "" {
			jobs[i].Kind = "k"
		}
		if jobs[i].Args == "" {
			jobs[i].Args = "{}"
		}
	}
	created, err := e.db.Enqueue(e.ctx, jobs, nil)
	if err != nil {
		e.Fatal(err)
	}
	for _, c := range created {
		ids = append(ids, c.ID)
	}
	return ids
}

func lanes(queue string) (all []store.Lane) {
	for _, p := range store.Priorities {
		all = append(all, store.Lane{Queue: queue, Priority: p})
	}
	return all
}

func (e *engine) claim(limit int) []store.Claimed { e.Helper(); return e.claimAs(e.server, limit) }

func (e *engine) claimAs(server int64, limit int) []store.Claimed {
	e.Helper()
	claimed, err := e.db.Claim(e.ctx, server, lanes("default"), []string{"k"}, limit)
	if err != nil {
		e.Fatal(err)
	}
	return claimed
}

// running is a job that the engine's server runs at attempt 1.
func (e *engine) running() store.Claimed {
	e.Helper()
	id := e.enqueue(store.NewJob{})[0]
	for _, c := range e.claim(1000) {
		if c.ID == id {
			return c
		}
	}
	e.Fatal("the job was not claimed")
	return store.Claimed{}
}

func succeeded(c store.Claimed) store.Settled {
	return store.Settled{ID: c.ID, Attempt: c.Attempt, State: store.Succeeded, Outcome: store.OutcomeSucceeded,
		Retry: c.Retry, Snoozes: c.Snoozes, Losses: c.Losses, Latency: 2 * time.Millisecond, Duration: 3 * time.Millisecond, Worker: 7}
}

func (e *engine) settle(outcomes ...store.Settled) []store.Token {
	e.Helper()
	refused, err := e.db.Settle(e.ctx, e.server, outcomes)
	if err != nil {
		e.Fatal(err)
	}
	return refused
}

// tell says everything about a job in lines: hot rows with attempt and counters,
// history with state, attempt, server, reason and actor, then the audit.
func (e *engine) tell(id int64) string {
	e.Helper()
	var text string
	err := e.db.GetContext(e.ctx, &text, `select coalesce(string_agg(line, E'\n' order by part, id), '') from (
		select 1 as part, 0 as id, format('ready %s r%s l%s s%s', attempt, retry, losses, snoozes) as line from tekrar.ready where job_id = $1
		union all select 1, 0, format('running %s r%s l%s s%s on %s', attempt, retry, losses, snoozes, server) from tekrar.running where job_id = $1
		union all select 1, 0, format('scheduled %s r%s l%s s%s cause %s', attempt, retry, losses, snoozes, cause) from tekrar.scheduled where job_id = $1
		union all select 1, 0, format('failed %s r%s l%s s%s %s: %s', attempt, retry, losses, snoozes, error_type, error_line) from tekrar.failed where job_id = $1
		union all select 1, 0, format('awaiting %s condition %s', parent_id, condition) from tekrar.awaiting where job_id = $1
		union all select 2, id, rtrim(format('%s %s', ('[-1:7]={awaiting,none,scheduled,enqueued,processing,succeeded,failed,deleted,late}'::text[])[state], attempt)
			|| coalesce(' on ' || server, '') || coalesce(' "' || reason || '"', '') || coalesce(' by ' || actor, '')) from tekrar.history where job_id = $1
		union all select 3, id, format('audit: %s %s from %s', actor, action, detail->>'from') from tekrar.audit where job_id = $1) x`, id)
	if err != nil {
		e.Fatal(err)
	}
	return text
}

// wantTold compares what tell says with lines; blanks around them don't count.
func (e *engine) wantTold(id int64, want string) {
	e.Helper()
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if got, want := e.tell(id), strings.Join(lines, "\n"); got != want {
		e.Errorf("job %d:\n%s\nwant\n%s", id, got, want)
	}
}

// check ends a test: nothing contradicts itself.
func (e *engine) check() {
	e.Helper()
	if err := e.db.Check(e.ctx); err != nil {
		e.Error(err)
	}
}

// until polls; the deadline is for a broken program only.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for pause := 3 * time.Millisecond; !holds(); pause = min(pause*3/2, 30*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
		select {
		case <-t.Context().Done():
			return
		case <-time.After(pause):
		}
	}
}

// count counts by a query.
func (e *engine) count(text string, args ...any) (n int) {
	e.Helper()
	if err := e.db.GetContext(e.ctx, &n, text, args...); err != nil {
		e.Fatal(err)
	}
	return n
}
