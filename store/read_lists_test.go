package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tekrar/tekrar/store"
)

func TestQueues(t *testing.T) {
	ctx, db := readSetup(t)
	if q, err := db.Queues(ctx); err != nil || len(q) != 0 {
		t.Errorf("empty: %v, %v", q, err)
	}
	put(t, db,
		past{queue: "ready", states: way(store.Enqueued), at: someTime.Add(time.Hour), priority: 4},
		past{queue: "ready", states: way(store.Enqueued)},
		past{queue: "o'neil", states: way(store.Processing)},
		past{queue: "later", states: way(store.Scheduled)},
		past{queue: "broken", states: way(store.Failed)},
		past{queue: "done", states: way(store.Succeeded)}, // nothing there, nothing to show
	)
	execAll(t, db, `insert into tekrar.queues values ('paused', '2026-03-01 12:00Z', 'ayşe'), ('ready', null, null)`,
		`insert into tekrar.servers (name, host, pid, slots, queues, lease_until, stopped_at, lost_at) values
			('a', 'h', 1, 1, '{ready,Ready}', now() + interval '1 hour', null, null),
			('b', 'h', 1, 1, '{ready}', now() + interval '1 hour', null, null),
			('expired', 'h', 1, 1, '{ready,gone}', now() - interval '1 second', null, null),
			('stopped', 'h', 1, 1, '{ready,gone}', now() + interval '1 hour', now(), null),
			('lost', 'h', 1, 1, '{ready,gone}', now() + interval '1 hour', null, now())`,
		`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
			select date_trunc('minute', now()) - make_interval(mins => m), 1, 10 ^ o, 0, 0, o, 1, 0, 'ready', 'k' || m
			from generate_series(0, 3) m, generate_series(1, 9) o union all
			select now() - interval '7 minutes', 1, 5, 0, 0, 1, 1, 0, 'ready', 'k'`)
	got, err := db.Queues(ctx)
	if err != nil {
		t.Fatal(err)
	}
	paused, oldest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), someTime
	want := []store.QueueRow{
		{Name: "Ready", Servers: 1},
		{Name: "broken"},
		{Name: "later"},
		{Name: "o'neil", Running: 1},
		{Name: "paused", PausedAt: &paused, PausedBy: "ayşe"},
		{Name: "ready", Depth: store.Count{N: 2}, OldestReady: &oldest, Servers: 2},
	}
	want[5].Finished = 4 * (10 + 1_000 + 10_000 + 100_000 + 1_000_000_000)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("queues (-want +got):\n%s", d)
	}
}

func TestNothingWaits(t *testing.T) {
	ctx, db := readSetup(t)
	if n, next, err := db.Retrying(ctx); n != 0 || next != nil || err != nil {
		t.Errorf("Retrying: %d, %v, %v", n, next, err)
	}
	counts, err := db.Counts(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, s := range store.States {
		if c, ok := counts[s]; !ok || c != (store.Count{}) {
			t.Errorf("%s: %v, %v", s, c, ok)
		}
	}
}

func TestServers(t *testing.T) {
	ctx, db := readSetup(t)
	put(t, db, repeat(3, past{states: way(store.Processing)})...) // on server 1
	execAll(t, db, `insert into tekrar.servers (id, name, host, pid, version, slots, listening, queues, kinds, started_at, lease_until, stopped_at, lost_at) values
		(1, 'old', 'h', 42, 'v1', 5, true, '{a,"b,c"}', '{k}', now() - interval '3 days', now() + interval '1 minute', null, null),
		(2, 'new', 'h', 1, '', 1, false, '{}', '{}', now(), now() + interval '1 minute', null, null),
		(3, 'stopped', 'h', 1, '', 1, false, '{}', '{}', now() - interval '1 hour', now(), now(), null),
		(4, 'lost', 'h', 1, '', 1, false, '{}', '{}', now() - interval '2 hours', now(), null, now() - interval '23 hours'),
		(5, 'forgotten', 'h', 1, '', 1, false, '{}', '{}', now(), now(), now() - interval '25 hours', null)`)
	got, err := db.Servers(ctx)
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"new", "old", "stopped", "lost"}, names); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	old := got[1]
	if old.ID != 1 || old.PID != 42 || old.Slots != 5 || old.Running != 3 || !old.Listening || old.Version != "v1" ||
		!cmp.Equal(old.Queues, []string{"a", "b,c"}) || !cmp.Equal(old.Kinds, []string{"k"}) ||
		old.StoppedAt != nil || old.LostAt != nil || old.Now.After(old.LeaseUntil) || old.Now.Before(old.StartedAt) {
		t.Errorf("server: %+v", old)
	}
	if got[2].StoppedAt == nil || got[3].LostAt == nil {
		t.Errorf("ends: %v, %v", got[2].StoppedAt, got[3].LostAt)
	}
}

func TestKinds(t *testing.T) {
	ctx, db := readSetup(t)
	execAll(t, db, `insert into tekrar.kinds values ('b', 'q', 3, 1500, '{"max_retries": 3}', '2026-03-01 12:00Z'), ('B', 'q', 0, null, '{}', '2026-03-01 12:00Z')`,
		`insert into tekrar.servers (name, host, pid, slots, kinds, lease_until) values
			('a', 'h', 1, 1, '{b}', now() + interval '1 hour'), ('gone', 'h', 1, 1, '{B}', now())`)
	got, err := db.Kinds(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	want := []store.KindRow{
		{Kind: "B", Queue: "q", Policy: []byte("{}"), SeenAt: at},
		{Kind: "b", Queue: "q", MaxRetries: 3, Policy: []byte(`{"max_retries": 3}`), TimeoutMS: new(int64(1500)), SeenAt: at, Handled: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("kinds (-want +got):\n%s", d)
	}
}
