package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tekrar/tekrar/store"
)

func TestJobUnknown_LST16(t *testing.T) {
	ctx, db := readSetup(t)
	for _, id := range []int64{0, -1, 1, 1 << 62} {
		if _, err := db.Job(ctx, id, 10, 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("job %d: %v, want ErrNotFound", id, err)
		}
	}
	if rows, err := db.JobRows(ctx, []int64{1, -1}); err != nil || len(rows) != 0 {
		t.Errorf("rows of unknown ids: %v, %v", rows, err)
	}
	if rows, err := db.JobRows(ctx, nil); err != nil || len(rows) != 0 {
		t.Errorf("rows of no ids: %v, %v", rows, err)
	}
}

func TestJobKeepsDigitsAndFindsItsPolicy(t *testing.T) {
	ctx, db := readSetup(t)
	const args = `{"id": 9223372036854775807, "sum": 0.1234567890123456789, "big": 12345678901234567890123}`
	jobs := put(t, db,
		past{states: way(store.Failed), args: args, policy: `{"max_retries": 2}`},
		past{states: way(store.Failed), kind: "published"},
		past{states: way(store.Failed), kind: "unknown"},
		past{states: way(store.Failed), policy: `{"max_retries": "many"}`},
	)
	execAll(t, db, `insert into tekrar.kinds (kind, queue, max_retries, timeout_ms, policy)
		values ('published', 'default', 10, 1500, '{"max_retries": 10}'), ('k', 'default', 7, null, '{}')`)
	type plan struct {
		Policy, From string
		MaxRetries   *int
		TimeoutMS    *int64
	}
	for i, want := range []plan{
		{`{"max_retries": 2}`, "job", new(2), nil},
		{`{"max_retries": 10}`, "kind", new(10), new(int64(1500))},
		{"", "", nil, nil},
		{`{"max_retries": "many"}`, "job", new(7), nil},
	} {
		d, err := db.Job(ctx, jobs[i], 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plan{string(d.Policy), d.PolicyFrom, d.MaxRetries, d.TimeoutMS}); diff != "" {
			t.Errorf("job %d (-want +got):\n%s", i, diff)
		}
		if i == 0 && string(d.Args) != args { // jsonb orders keys by length first
			if string(d.Args) != `{"id": 9223372036854775807, "big": 12345678901234567890123, "sum": 0.1234567890123456789}` {
				t.Errorf("args %s", d.Args)
			}
		}
	}
}

// ERR-12: a job with thousands of history rows is read in pages, newest first,
// with the true total.
func TestJobHistoryIsPaged_ERR12(t *testing.T) {
	ctx, db := readSetup(t)
	id := put(t, db, past{states: way(store.Failed)})[0]
	execAll(t, db, `insert into tekrar.history (job_id, attempt, state, queue, kind, reason)
		select 1, 1, 7, 'default', 'k', 'late ' || g from generate_series(1, 4997) g`)
	var seen []int64
	for before := int64(0); ; {
		d, err := db.Job(ctx, id, 500, before)
		if err != nil || d.HistoryTotal != 5000 || d.State != store.Failed {
			t.Fatalf("state %s, total %d, %v", d.State, d.HistoryTotal, err)
		}
		if len(d.History) == 0 {
			break
		}
		for _, h := range d.History {
			seen = append(seen, h.ID)
		}
		before = seen[len(seen)-1]
	}
	if len(seen) != 5000 || !slices.IsSortedFunc(seen, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%d rows, or not newest first", len(seen))
	}
	if d, err := db.Job(ctx, id, 0, 0); err != nil || len(d.History) != 50 {
		t.Errorf("default page: %d rows, %v", len(d.History), err)
	}
}

func TestJobHistoryRow(t *testing.T) {
	ctx, db := readSetup(t)
	id := put(t, db, past{states: way(store.Failed), at: someTime})[0]
	execAll(t, db, `insert into tekrar.servers (id, name, host, pid, slots, lease_until) values (1, 'web-1', 'h', 1, 1, now())`,
		`update tekrar.history set server = 77 where state = 5`,
		`update tekrar.history set worker = 3, latency_us = 1500, duration_us = 250, reason = 'why', actor = 'ayşe',
			data = '{"error": "refused", "n": 9223372036854775807}' where state = 3`)
	d, err := db.Job(ctx, id, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	latency, duration := 1500*time.Microsecond, 250*time.Microsecond
	want := []store.HistoryRow{
		{ID: 3, At: someTime, State: store.Failed, Attempt: 1, Server: "server 77"},
		{ID: 2, At: someTime, State: store.Processing, Attempt: 1, Reason: "why", Actor: "ayşe", Server: "web-1", Worker: new(3),
			Latency: &latency, Duration: &duration, Data: []byte(`{"n": 9223372036854775807, "error": "refused"}`)},
		{ID: 1, At: someTime, State: store.Enqueued, Actor: "someone"},
	}
	if diff := cmp.Diff(want, d.History); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// Live patches read rows by id: each must be the row that its list shows.
func TestJobRowsEqualTheLists(t *testing.T) {
	ctx, db := readSetup(t)
	execAll(t, db, `insert into tekrar.servers (id, name, host, pid, slots, lease_until) values (1, 'web-1', 'h', 1, 1, now())`,
		`insert into tekrar.kinds (kind, queue, max_retries, policy) values ('k', 'default', 7, '{}')`)
	var all []int64
	for _, s := range store.States {
		all = append(all, put(t, db, past{states: way(s), priority: 3, policy: map[bool]string{true: `{"max_retries": 1}`}[s == store.Failed]})...)
	}
	execAll(t, db, `update tekrar.scheduled set run_at = run_at + interval '1 hour', cause = 2, retry = 1, losses = 2`,
		`insert into tekrar.history (job_id, attempt, state, queue, kind, reason) select id, 1, 7, queue, kind, 'late' from tekrar.jobs`)
	rows, err := db.JobRows(ctx, all)
	if err != nil || len(rows) != len(all) {
		t.Fatal(rows, err)
	}
	for i, s := range store.States {
		list := walk(t, db, store.JobFilter{State: s})
		if len(list) != 1 {
			t.Fatalf("%s: %d rows", s, len(list))
		}
		if diff := cmp.Diff(list[0], rows[i]); diff != "" {
			t.Errorf("%s (-list +by id):\n%s", s, diff)
		}
		r := rows[i]
		if r.ID != all[i] || r.State != s || r.Priority != 3 || r.HistoryID == 0 || r.Reason == "late" || !r.Since.Equal(someTime) {
			t.Errorf("%s: %+v", s, r)
		}
		if max := map[bool]int{true: 1, false: 7}[s == store.Failed]; *r.MaxRetries != max {
			t.Errorf("%s: MaxRetries %d, want %d", s, *r.MaxRetries, max)
		}
		if (s == store.Scheduled) != (r.RunAt != nil && r.Cause == store.CauseRetry && r.Retry == 1 && r.Losses == 2) {
			t.Errorf("%s: run_at %v, cause %d", s, r.RunAt, r.Cause)
		}
		if (s == store.Failed) != (r.ErrorType == "net.OpError" && r.ErrorLine == "refused") {
			t.Errorf("%s: error %q %q", s, r.ErrorType, r.ErrorLine)
		}
		if (s == store.Processing) != (r.Server != nil && *r.Server == "web-1") {
			t.Errorf("%s: server %v", s, r.Server)
		}
	}
}
