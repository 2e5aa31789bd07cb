package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// Only what is finished and old goes, with all its history: failed jobs never,
// requeued ones not, a late row keeps nothing alive.
func TestExpireRemovesWhatIsOldAndFinished(t *testing.T) {
	e := writeSetup(t)
	const enq, run, ok, del = store.Enqueued, store.Processing, store.Succeeded, store.Deleted
	now := time.Now()
	ids := put(t, e.db,
		past{states: []store.State{enq, run, ok}},                        // 0 goes
		past{states: []store.State{enq, run, ok, enq}},                   // requeued
		past{states: []store.State{enq, run, ok, enq, run}},              // runs again
		past{states: []store.State{enq, run, ok, enq, run, ok}},          // 3 goes, though succeeded twice
		past{states: way(store.Failed)},                                  // failed: never
		past{states: []store.State{enq, run, ok, store.Late}, kind: "b"}, // 5 goes
		past{states: []store.State{enq, run, ok, del}},                   // deleted: the other state
		past{states: []store.State{enq, del}, kind: "c"},
		past{states: way(store.Scheduled)},
		past{states: []store.State{enq, run, ok}, at: now}, // too young
	)
	left := func() (left []int64) {
		if err := e.db.SelectContext(e.ctx, &left, `select id from tekrar.jobs order by id`); err != nil {
			t.Fatal(err)
		}
		return left
	}
	expire := func(state store.State, want int, gone ...int64) {
		t.Helper()
		kept := slices.DeleteFunc(left(), func(id int64) bool { return slices.Contains(gone, id) })
		if n, err := e.db.Expire(e.ctx, state, time.Hour); err != nil || n != want || !slices.Equal(left(), kept) {
			t.Errorf("%s: %d removed, %v; left %v, want %v", state, n, err, left(), kept)
		}
	}
	expire(store.Failed, 0)
	expire(store.Succeeded, 3, ids[0], ids[3], ids[5])
	expire(store.Deleted, 2, ids[6], ids[7])
	expire(store.Succeeded, 0)
	if n := e.count(`select count(*) from tekrar.history h where not exists (select 1 from tekrar.jobs j where j.id = h.job_id)`); n != 0 {
		t.Errorf("%d history rows of removed jobs", n)
	}
}

// Retention goes on over chunks that hold nothing to remove.
func TestExpireGoesOverChunks(t *testing.T) {
	e := writeSetup(t)
	e.exec(`insert into tekrar.jobs (id, queue, kind, args) select g, 'default', 'k', '{}' from generate_series(1, 2500) g`)
	e.exec(`insert into tekrar.history (job_id, at, attempt, state, queue, kind) select g, now() - interval '2 h', 1, 4, 'default', 'k' from generate_series(1, 2500) g`)
	e.exec(`insert into tekrar.history (job_id, attempt, state, queue, kind, actor) select g, 1, 2, 'default', 'k', 'ann' from generate_series(1, 1200) g`)
	if n, err := e.db.Expire(e.ctx, store.Succeeded, time.Hour); err != nil || n != 1300 {
		t.Errorf("%d removed, %v; want 1300", n, err)
	}
}

// Minutes become hours: sums stay, the present is not touched, and again changes
// nothing, whatever the zone of the connection (LIV-11).
func TestFoldStatsKeepsSums(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t)) // its zone is changed below
	e.exec(`insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('hour', now(), 'UTC') - m * interval '1 min', s, m, 10 * m, 100 * m, 1 + m % 2, 1, 3, 'q', 'k'
		from generate_series(-1, 6 * 60) m cross join generate_series(1, 3) s`)
	type sums struct {
		N, Run, Wait, Recent, Hours int
		Rows                        int
	}
	read := func() (s sums) {
		t.Helper()
		if err := e.db.GetContext(e.ctx, &s, `select sum(n) as n, sum(run_us) as run, sum(wait_us) as wait, count(*) as rows,
			count(*) filter (where server <> 0) as recent, count(distinct minute) filter (where server = 0) as hours from tekrar.stats`); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := read()
	if err := e.db.FoldStats(e.ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	after := read()
	if after.N != before.N || after.Run != before.Run || after.Wait != before.Wait {
		t.Errorf("sums %+v, before %+v", after, before)
	}
	if after.Hours < 4 || after.Hours > 5 || after.Rows != after.Recent+2*after.Hours-1 && after.Rows != after.Recent+2*after.Hours {
		t.Errorf("not folded: %+v", after)
	}
	if e.count(`select count(*) from tekrar.stats where server <> 0 and minute < date_trunc('hour', now() - interval '2 h', 'UTC')`) != 0 {
		t.Error("old minutes are left")
	}
	e.exec(`do $$ begin execute format('alter database %I set timezone = ''Asia/Kolkata''', current_database()); end $$`)
	other := newEngine(t, openAgain(t, e.db))
	if err := other.db.FoldStats(e.ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	if again := read(); again != after {
		t.Errorf("folded again: %+v, before %+v", again, after)
	}
}

// A server's row goes when it ended long ago and holds nothing.
func TestPruneServers(t *testing.T) {
	e := writeSetup(t)
	live, young, old, holds := e.register("live"), e.register("young"), e.register("old"), e.register("holds")
	e.enqueue(store.NewJob{})
	e.claimAs(holds, 1)
	e.exec(`update tekrar.servers set stopped_at = now() - interval '1 min' where id = $1`, young)
	e.exec(`update tekrar.servers set lost_at = now() - interval '2 h' where id = any(array[$1, $2]::bigint[])`, old, holds)
	if err := e.db.PruneServers(e.ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	var left []int64
	if err := e.db.SelectContext(e.ctx, &left, `select id from tekrar.servers where id <> $1 order by id`, e.server); err != nil || !slices.Equal(left, []int64{live, young, holds}) {
		t.Errorf("left %v, %v", left, err)
	}
}

// Pausing twice keeps the first person; resuming an unknown queue does no harm.
func TestPauseKeepsTheFirstPerson(t *testing.T) {
	e := writeSetup(t)
	for _, who := range []string{"ann", "bob"} {
		if err := e.db.PauseQueue(e.ctx, who, "default"); err != nil {
			t.Fatal(err)
		}
	}
	e.enqueue(store.NewJob{})
	if c := e.claim(1); len(c) != 0 {
		t.Errorf("claimed %+v", c)
	}
	if e.count(`select count(*) from tekrar.queues where paused_by = 'ann' and paused_at is not null`) != 1 {
		t.Error("bob took ann's pause over")
	}
	for _, queue := range []string{"default", "unknown"} {
		if err := e.db.ResumeQueue(e.ctx, "bob", queue); err != nil {
			t.Fatal(err)
		}
	}
	if c := e.claim(1); len(c) != 1 {
		t.Error("nothing claimed after the resume")
	}
	if n := e.count(`select count(*) from tekrar.audit where detail->>'queue' = 'default' and action in ('pause queue', 'resume queue')`); n != 3 {
		t.Errorf("%d audit rows", n)
	}
}
