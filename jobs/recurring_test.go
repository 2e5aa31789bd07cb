package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// CRN-08: no server runs at noon. The first one after that fires it once, with
// noon as its fire time, and the handler sees it.
func TestCRN08FireWhileNoServerRan(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	noon := ask[time.Time](t, db, `select date_trunc('minute', clock_timestamp())`).UTC()
	spec := fmt.Sprintf("%d %d * * *", noon.Minute(), noon.Hour())
	ran := make(chan *jobs.Job[task], 10)
	register := ticks(func(_ context.Context, j *jobs.Job[task]) error { ran <- j; return nil }, "daily", spec)
	declared(t, db, register)
	if r := recurring(t, db, "daily"); r.NextRun == nil || !r.NextRun.Equal(noon.Add(24*time.Hour)) {
		t.Fatalf("first fire at %v", r.NextRun)
	}
	shift(t, db, `update tekrar.recurring set next_run = $1`, noon)

	r := startOn(t, db, quickly(), register)
	defer r.stop()
	j := <-ran
	if !j.FireAt.Equal(noon) || j.RecurringID != "daily" {
		t.Errorf("the handler saw %q fire at %v, want %v", j.RecurringID, j.FireAt, noon)
	}
	if d := r.waitFor(j.ID, store.Succeeded); d.RecurringID != "daily" || d.FireAt == nil || !d.FireAt.Equal(noon) {
		t.Errorf("%+v", d)
	}
	row := recurring(t, db, "daily")
	same(t, []string{"enqueued succeeded"}, fires(row))
	if !row.Last[0].FireAt.Equal(noon) || !row.LastFire.Equal(noon) || !row.NextRun.Equal(noon.Add(24*time.Hour)) {
		t.Errorf("%+v", row)
	}
	r.stop()
	same(t, 0, len(ran))
	check(t, db)
}

// CRN-09: a program that restarts every day fires its weekly job on its day.
func TestCRN09WeeklyFireSurvivesDailyRestarts(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	register := ticks(nothing, "weekly", "@every 168h")
	for day := range 7 {
		declared(t, db, register)
		if n := ask[int](t, db, `select count(*) from tekrar.jobs`); n != 0 {
			t.Fatalf("fired on day %d", day)
		}
		shift(t, db, `update tekrar.recurring set created_at = created_at - interval '1 day', next_run = next_run - interval '1 day'`)
	}
	r := startOn(t, db, quickly(), register)
	defer r.stop()
	eventually(t, "it fires on day 7", func() bool { return len(recurring(t, db, "weekly").Last) == 1 })
	row := recurring(t, db, "weekly")
	if !row.Last[0].FireAt.Equal(row.CreatedAt.Add(168*time.Hour)) || !row.NextRun.Equal(row.CreatedAt.Add(336*time.Hour)) {
		t.Errorf("%+v", row)
	}
	r.stop()
	check(t, db)
}

// CRN-10: a process that wakes 5 ms before the boundary makes no job then, and
// one afterwards.
func TestCRN10WakingEarlyFiresOnce(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	c := newClient(t, db, quickly())
	if err := c.SaveRecurring(t.Context(), "ada", jobs.RecurringSpec{ID: "r", Spec: "@every 1h", Kind: "task"}); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		shift(t, db, `with n as (select clock_timestamp() + interval '5 milliseconds' as t)
			update tekrar.recurring set start_at = (select t from n), next_run = (select t from n)`)
		for ask[int](t, db, `select count(*) from tekrar.jobs`) == i {
			if _, err := jobs.FireOnce(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if _, err := jobs.FireOnce(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	same(t, 100, ask[int](t, db, `select count(distinct fire_at) from tekrar.jobs`))
	same(t, 100, ask[int](t, db, `select count(*) from tekrar.jobs where created_at >= fire_at`))
	check(t, db)
}

// CRN-11: five processes share a schedule of every second.
func TestCRN11FiveServersOneJobAFire(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	db := storetest.Open(t, dsn, store.Options{})
	log := &loud{level: 8} // errors
	cfg := quickly()
	cfg.Logger, cfg.Workers, cfg.Lease = slogOf(log), 1, 30*time.Second // a busy machine must not look like a lost server
	for range 5 {
		r := startOn(t, storetest.Open(t, dsn, store.Options{Logger: slogOf(log)}), cfg, ticks(nothing, "tick", "* * * * * *"))
		defer r.stop()
	}
	eventually(t, "ten fires", func() bool { return ask[int](t, db, `select count(*) from tekrar.jobs`) >= 10 })
	eventually(t, "twenty fires", func() bool { return ask[int](t, db, `select count(*) from tekrar.jobs`) >= 20 })
	if n := contiguous(t, db, "tick"); n < 20 {
		t.Errorf("%d fires", n)
	}
	same(t, []string(nil), log.said())
}

// CRN-14: an edit takes effect within a poll, what the code no longer declares
// stops and is shown as removed, and comes back with the code.
func TestCRN14EditsAndRemovals(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	old := startOn(t, db, quickly(), func(c *jobs.Client) {
		jobs.Handle(c, nothing)
		c.Recurring("goes", "0 0 1 1 *", task{})
		c.Recurring("stays", "0 0 1 1 *", task{})
	})
	defer old.stop()
	eventually(t, "both are stored", func() bool { return ask[int](t, db, `select count(*) from tekrar.recurring`) == 2 })
	if err := old.SaveRecurring(t.Context(), "ada", jobs.RecurringSpec{ID: "stays", Spec: "* * * * * *", Kind: "task"}); err != nil {
		t.Fatal(err)
	}
	edited := recurring(t, db, "stays").UpdatedAt
	eventually(t, "the edit fires", func() bool { return len(recurring(t, db, "stays").Last) > 0 })
	first := ask[time.Time](t, db, `select min(created_at) from tekrar.jobs`)
	if took := first.Sub(edited); took > 2500*time.Millisecond { // next whole second, a poll, a busy machine
		t.Errorf("active %v after the edit", took)
	}

	next := startOn(t, storetest.Open(t, db.DSN(), store.Options{}), quickly(), ticks(nothing, "stays", "0 0 1 1 *"))
	defer next.stop()
	eventually(t, "two servers are live", func() bool { return live(t, db) == 2 })
	if r := recurring(t, db, "goes"); r.RemovedAt != nil {
		t.Error("removed while a server declares it")
	}
	if r := recurring(t, db, "stays"); r.Spec != "* * * * * *" {
		t.Error("a start with unchanged code undid a person's edit")
	}
	old.stop()
	eventually(t, "it is removed", func() bool { return recurring(t, db, "goes").RemovedAt != nil })
	shift(t, db, `update tekrar.recurring set next_run = clock_timestamp() - interval '1 hour' where id = 'goes'`)
	before := len(recurring(t, db, "stays").Last)
	eventually(t, "others go on", func() bool { return len(recurring(t, db, "stays").Last) > before })
	same(t, 0, len(recurring(t, db, "goes").Last))
	next.stop()

	shift(t, db, `update tekrar.recurring set removed_at = removed_at - interval '1 day' where id = 'goes'`)
	declared(t, db, ticks(nothing, "goes", "0 0 1 1 *"))
	if r := recurring(t, db, "goes"); r.RemovedAt != nil || !r.NextRun.After(time.Now()) {
		t.Errorf("declared again: %+v", r)
	}
	same(t, 0, len(recurring(t, db, "goes").Last))
	check(t, db)
}

// CRN-18: the table is locked for as long as the statement may take. The firing
// goes on after it, and the misfire rule decides about what was missed.
func TestCRN18LockedTable(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	r := startOn(t, db, quickly(), ticks(nothing, "tick", "* * * * * *", jobs.MisfireRule(schedule.RunAll)))
	defer r.stop()
	eventually(t, "it fires", func() bool { return ask[int](t, db, `select count(*) from tekrar.jobs`) > 0 })
	lock, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback()
	if _, err := lock.Exec(`lock table tekrar.recurring in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	before := ask[int](t, db, `select count(*) from tekrar.jobs`)
	for range 3 { // what the statement timeout does after 30 s
		var cancelled int
		eventually(t, "the firing hangs", func() bool {
			cancelled = ask[int](t, db, `select count(*) filter (where pg_cancel_backend(pid)) from pg_locks
				where not granted and relation = 'tekrar.recurring'::regclass and database = (select oid from pg_database where datname = current_database())`)
			return cancelled > 0
		})
	}
	d := r.waitFor(r.put(task{}), store.Succeeded) // other work goes on meanwhile
	same(t, []string{"enqueued", "processing", "succeeded"}, told(d))
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it fires again", func() bool { return ask[int](t, db, `select count(*) from tekrar.jobs`) > before+3 })
	r.stop()
	contiguous(t, db, "tick")
	check(t, db)
}

// Rows 73 and 77: one that cannot fire keeps its error and stops no other.
func TestABrokenOneStopsNoOther_Rows73and77(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	log := &loud{level: 4} // warnings
	cfg := quickly()
	cfg.Logger = slogOf(log)
	c := newClient(t, db, cfg)
	for i := range 5 {
		save(t, c, jobs.RecurringSpec{ID: fmt.Sprint("r", i), Spec: "@hourly", Kind: "task", Retry: new(jobs.NoRetry())})
	}
	shift(t, db, `update tekrar.recurring set next_run = date_trunc('hour', clock_timestamp())`)
	shift(t, db, `update tekrar.recurring set spec = 'every now and then' where id = 'r2'`)
	if wait, err := jobs.FireOnce(t.Context(), c); err != nil || wait != 0 {
		t.Fatal(wait, err)
	}
	same(t, 4, ask[int](t, db, `select count(*) from tekrar.jobs`))
	row := recurring(t, db, "r2")
	if row.Error == "" || row.Failures != 1 || !row.NextRun.After(time.Now().Add(-time.Second)) || len(row.Last) != 0 {
		t.Errorf("%+v", row)
	}
	same(t, 1, len(log.said()))
	if _, err := c.RunRecurringNow(t.Context(), "ada", "r2"); !errors.As(err, new(*jobs.InputError)) { // row 83
		t.Errorf("run now: %v", err)
	}
	save(t, c, jobs.RecurringSpec{ID: "r2", Spec: "@hourly", Kind: "task", Retry: new(jobs.NoRetry())})
	if row := recurring(t, db, "r2"); row.Error != "" || row.Failures != 0 || row.NextRun == nil {
		t.Errorf("repaired: %+v", row)
	}
}
