package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// mixed gives n jobs of all sorts, each with args of its own.
func mixed(n int) []store.NewJob {
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = store.NewJob{Queue: fmt.Sprintf("q%d", i%7), Kind: fmt.Sprintf("k%d", i%5), Priority: int16(i%9 - 4),
			Args: fmt.Sprintf(`{"i":%d,"text":"a\\b\n\"ü%s"}`, i, strings.Repeat("x", i%50))}
		switch i % 6 {
		case 1:
			jobs[i].In = time.Duration(i) * time.Second
		case 2:
			jobs[i].At = time.Date(2100, 1, 1, 0, 0, i, 123456000, time.UTC)
		case 3:
			jobs[i].At = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		case 4:
			jobs[i].Policy = fmt.Sprintf(`{"max_retries":%d}`, i%3)
		case 5:
			jobs[i].Timeout = time.Duration(i) * time.Second
		}
	}
	return jobs
}

// The n-th id belongs to the n-th job, whatever else a statement holds; ids and
// ready_at grow in the order given.
func TestEnqueueKeepsOrderAndPairs(t *testing.T) {
	e := writeSetup(t)
	for _, n := range []int{1, 1000, 2000} {
		jobs := mixed(n)
		created, err := e.db.Enqueue(e.ctx, jobs, []string{"q1"})
		if err != nil || len(created) != n {
			t.Fatal(len(created), err)
		}
		var rows []struct {
			ID                         int64
			I                          int
			Queue, Kind, Policy, Table string
			Priority                   int16
			Timeout                    int64
			Delta                      int64 // run_at against created_at or the epoch
		}
		if err := e.db.SelectContext(e.ctx, &rows, `select j.id, (j.args->>'i')::int as i, j.queue, j.kind, j.priority,
				coalesce(j.policy->>'max_retries', '') as policy, coalesce(j.timeout_ms, 0) as timeout,
				case when r.job_id is not null then 'ready' else 'scheduled' end as table,
				coalesce(case when (j.args->>'i')::int % 6 = 2 then extract(epoch from s.run_at) else round(extract(epoch from s.run_at - j.created_at)) end * 1000000, 0)::bigint as delta
			from tekrar.jobs j left join tekrar.ready r on r.job_id = j.id left join tekrar.scheduled s on s.job_id = j.id
			where j.id >= $1 order by j.id`, created[0].ID); err != nil || len(rows) != n {
			t.Fatal(len(rows), err)
		}
		for i, r := range rows {
			j := jobs[i]
			want := r
			want.ID, want.I, want.Queue, want.Kind, want.Priority = created[i].ID, i, j.Queue, j.Kind, j.Priority
			want.Timeout, want.Policy, want.Table, want.Delta = j.Timeout.Milliseconds(), "", "ready", 0
			if j.Policy != "" {
				want.Policy = fmt.Sprint(i % 3)
			}
			state := store.Enqueued
			if i%6 == 1 {
				state, want.Table, want.Delta = store.Scheduled, "scheduled", j.In.Microseconds()
			} else if i%6 == 2 {
				state, want.Table, want.Delta = store.Scheduled, "scheduled", j.At.UnixMicro()
			}
			if r != want || created[i].State != state {
				t.Fatalf("job %d of %d: %+v, %+v\nwant %+v", i, n, created[i], r, want)
			}
		}
	}
	if e.count(`select count(*) from (select ready_at, lag(ready_at) over (order by job_id) as before from tekrar.ready) x where ready_at < before`) != 0 {
		t.Error("ready_at does not follow the order given")
	}
	e.check()
}

// All or nothing: one job that the database refuses takes the statement with it,
// and the session goes on (ARG-01).
func TestEnqueueIsAllOrNothing_ARG01(t *testing.T) {
	e := writeSetup(t)
	for _, bad := range []string{`{"s":"a\u0000b"}`, `{"s":"\ud800"}`, `{`, "", "{\n}", "{}\n{}"} {
		jobs := mixed(100)
		jobs[50].Args = bad
		if _, err := e.db.Enqueue(e.ctx, jobs, nil); err == nil || !store.IsData(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if n := e.count(`select count(*) from tekrar.jobs`) + e.count(`select count(*) from tekrar.history`); n != 0 {
		t.Errorf("%d rows stayed", n)
	}
	e.enqueue(store.NewJob{})
}

// ARG-06: args beyond what a notification can carry.
func TestEnqueueOfLargeArgs_ARG06(t *testing.T) {
	e := writeSetup(t)
	for _, size := range []int{8_100, 1 << 20} {
		args := `{"s":"` + strings.Repeat("ü\\\"", size/4) + `"}`
		created, err := e.db.Enqueue(e.ctx, []store.NewJob{{Queue: "default", Kind: "k", Args: args}}, []string{"default"})
		if err != nil {
			t.Fatal(err)
		}
		if n := e.count(`select octet_length(args->>'s') from tekrar.jobs where id = $1`, created[0].ID); n != size/4*3 {
			t.Errorf("%d bytes: %d arrived", size, n)
		}
		if c := e.claim(1); len(c) != 1 || len(c[0].Args) < size {
			t.Errorf("%d bytes: claimed %d jobs", size, len(c))
		}
	}
}

// UNQ-12: inside the caller's transaction jobs are invisible until it commits,
// then all there, and gone when it rolls back.
func TestEnqueueInATransaction_UNQ12(t *testing.T) {
	e := writeSetup(t)
	for _, commit := range []bool{false, true} {
		tx, err := e.db.Beginx()
		if err != nil {
			t.Fatal(err)
		}
		created, err := e.db.EnqueueIn(e.ctx, tx, []store.NewJob{{Queue: "default", Kind: "k", Args: "{}"}, {Queue: "default", Kind: "k", Args: "{}", In: time.Hour}}, []string{"default"})
		if err != nil || created[0].State != store.Enqueued || created[1].State != store.Scheduled {
			t.Fatal(created, err)
		}
		if c := e.claim(5); len(c) != 0 {
			t.Errorf("claimed before the commit: %+v", c)
		}
		if _, err := e.db.Job(e.ctx, created[0].ID, 1, 0); err == nil {
			t.Error("visible before the commit")
		}
		end, want := tx.Rollback, 0
		if commit {
			end, want = tx.Commit, 1
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if c := e.claim(5); len(c) != want {
			t.Errorf("commit %v: claimed %d", commit, len(c))
		}
	}
	if n := e.count(`select count(*) from tekrar.history`); n != 3 {
		t.Errorf("%d history rows", n)
	}
	e.check()
}
