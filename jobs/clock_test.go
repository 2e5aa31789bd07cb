package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// skewed is a database whose clock differs from this process's by what the test
// says: its functions of time are ours, which the session finds first.
func skewed(t *testing.T, by time.Duration) (db *store.DB, step func(time.Duration)) {
	t.Helper()
	dsn := storetest.DSN(t)
	admin := storetest.Open(t, dsn, store.Options{})
	step = func(by time.Duration) {
		shift(t, admin, `update skew.clock set ahead = make_interval(secs => $1)`, by.Seconds())
	}
	shift(t, admin, `create schema skew`)
	shift(t, admin, `create table skew.clock as select interval '0' as ahead, 1::float8 as rate, now() as since`)
	for _, name := range []string{"clock_timestamp", "statement_timestamp", "now"} {
		shift(t, admin, fmt.Sprintf(`create function skew.%[1]s() returns timestamptz language sql volatile as 'select pg_catalog.%[1]s() + ahead + (rate - 1) * (pg_catalog.%[1]s() - since) from skew.clock'`, name))
	}
	shift(t, admin, `do $$ declare c record; begin
		for c in select table_name, column_name from information_schema.columns where table_schema = 'tekrar' and column_default = 'clock_timestamp()' loop
			execute format('alter table tekrar.%I alter column %I set default skew.clock_timestamp()', c.table_name, c.column_name);
		end loop;
		execute format('alter database %I set search_path = skew, pg_catalog, public', current_database()); end $$`)
	step(by)
	db = storetest.Open(t, dsn, store.Options{})
	if ahead := time.Until(ask[time.Time](t, db, `select clock_timestamp()`)); (ahead - by).Abs() > time.Minute {
		t.Fatalf("the database's clock is ahead by %v, want %v", ahead, by)
	}
	return db, step
}

// LSE-16: the clocks of workers are an hour before and behind the database's: what
// is due is the database's word, nothing starts early, no live server is lost.
func TestWorkersWithAWrongClock_LSE16(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(fmt.Sprintf("database %v ahead", ahead), func(t *testing.T) {
			t.Parallel()
			db, _ := skewed(t, ahead)
			fired := make(chan time.Time, 1000)
			register := func(c *jobs.Client) {
				jobs.Handle(c, func(_ context.Context, j *jobs.Job[task]) error {
					if j.Args.N == 1 && j.Attempt == 1 {
						return errPaper
					}
					return nil
				}, jobs.Retry(jobs.RetryPolicy{MaxRetries: 1, Delays: []time.Duration{400 * time.Millisecond}}))
				jobs.Handle(c, func(_ context.Context, j *jobs.Job[greet]) error { fired <- j.FireAt; return nil })
				c.Recurring("r", "* * * * * *", greet{})
			}
			cfg := quickly()
			cfg.Lease = 20 * time.Second // a busy machine must not look like a lost server
			r := startOn(t, db, cfg, register)
			defer r.stop()
			other := startOn(t, db, cfg, register)
			defer other.stop()
			at := ask[time.Time](t, db, `select clock_timestamp()`).Add(1500 * time.Millisecond)
			ids := []int64{r.put(task{}), r.put(task{}, jobs.In(400*time.Millisecond)), r.put(task{}, jobs.At(at)), r.put(task{N: 1})}
			for _, id := range ids {
				d := r.waitFor(id, store.Succeeded)
				for i, h := range d.History[:len(d.History)-1] { // newest first: [i] follows [i+1]
					before := d.History[i+1]
					if h.Reason != "Triggered by scheduler" {
						continue
					}
					if wait := h.At.Sub(before.At); id != ids[2] && (wait < 400*time.Millisecond || wait > 20*time.Second) {
						t.Errorf("job %d waited %v, asked for 400 ms", id, wait)
					} else if id == ids[2] && (h.At.Before(at) || h.At.Sub(at) > 20*time.Second) {
						t.Errorf("job %d started %v after its time", id, h.At.Sub(at))
					}
				}
			}
			fire := <-fired
			if off := ask[time.Time](t, db, `select clock_timestamp()`).Sub(fire); off < 0 || off > 20*time.Second {
				t.Errorf("a fire of %v ran at %v of the database", fire, off)
			}
			r.stop()
			other.stop()
			same(t, 0, ask[int](t, db, `select count(*) from tekrar.servers where lost_at is not null`))
			same(t, 0, ask[int](t, db, `select count(*) from tekrar.history where reason like '%lost%'`))
			check(t, db)
		})
	}
}

// LSE-17: the clock steps back by two hours and then ahead by thirty days under a
// running server: it goes on within its polls, each time.
func TestClockSteps_LSE17(t *testing.T) {
	t.Parallel()
	db, step := skewed(t, 0)
	cfg := quickly()
	cfg.PollOnly = true // no notification helps
	r := startOn(t, db, cfg, on(nothing))
	defer r.stop()
	runs := func(when string) {
		t.Helper()
		for _, option := range []jobs.EnqueueOption{jobs.Priority(0), jobs.In(200 * time.Millisecond)} {
			began := time.Now()
			r.waitFor(r.put(task{}, option), store.Succeeded)
			if took := time.Since(began); took > 20*time.Second { // polls are of 200 ms, a lease of 2 s may pass; the rest is for a busy machine
				t.Errorf("%s: a job took %v", when, took)
			}
		}
	}
	runs("before")
	for _, by := range []time.Duration{-2 * time.Hour, 30 * 24 * time.Hour, 0} {
		step(by)
		runs(fmt.Sprintf("after a step to %v", by))
	}
	r.stop()
}
