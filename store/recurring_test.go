package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store"
)

// recur stores a recurring job that is due at each given time after now.
func (e *engine) recur(id string, in time.Duration) {
	e.Helper()
	err := e.db.EditRecurring(e.ctx, "ada", "save", id, func(now time.Time, old *store.RecurringRow) (*store.RecurringRow, error) {
		if old != nil {
			e.Errorf("%s is there already", id)
		}
		next := now.Add(in)
		return &store.RecurringRow{ID: id, Kind: "k", Queue: "default", Spec: "@hourly", Zone: "UTC", Misfire: "run_once", Overlap: "skip",
			Args: []byte(`{}`), NextRun: &next, CreatedAt: now}, nil
	})
	if err != nil {
		e.Fatal(err)
	}
}

// oneEach fires every due row once, an hour before its next fire.
func oneEach(now time.Time, due []store.Due) (firings []store.Firing) {
	for _, d := range due {
		firings = append(firings, store.Firing{ID: d.ID, LastFire: *d.NextRun, NextRun: d.NextRun.Add(time.Hour),
			Fires: []store.Fire{{At: *d.NextRun, Outcome: store.FireEnqueued, Job: store.NewJob{Kind: d.Kind, Queue: d.Queue, Args: string(d.Args)}}}})
	}
	return firings
}

// Two processes look at the same time: the second fires what the first has not
// locked, and does not wait.
func TestFireAgainstFireSkips(t *testing.T) {
	r := newRace(t, "fire: due read")
	for i := range 25 { // one look takes 20
		r.recur(fmt.Sprintf("r%02d", i), -time.Minute)
	}
	first := apart(func() (store.Fired, error) { return r.first.FireDue(r.ctx, oneEach) })
	<-r.reached
	second := must(r, apart(func() (store.Fired, error) { return r.second.FireDue(r.ctx, oneEach) }))
	third := must(r, apart(func() (store.Fired, error) { return r.second.FireDue(r.ctx, oneEach) }))
	r.goOn()
	one := must(r, first)
	if len(one.IDs) != 20 || len(second.IDs) != 5 || third.Rows != 0 {
		t.Errorf("%d, %d and %d jobs; want 20, 5 and 0", len(one.IDs), len(second.IDs), third.Rows)
	}
	if n := r.count(`select count(distinct recurring_id) from tekrar.jobs where fire_at is not null`); n != 25 {
		t.Errorf("%d recurring jobs fired", n)
	}
	r.check()
}

// A person who pauses while a server fires waits, and the fire is made; then
// there is none.
func TestPauseAgainstFire(t *testing.T) {
	r := newRace(t, "fire: due read")
	r.recur("r", -time.Minute)
	first := apart(func() (store.Fired, error) { return r.first.FireDue(r.ctx, oneEach) })
	<-r.reached
	pause := apart(func() (bool, error) {
		return true, r.second.EditRecurring(r.ctx, "ada", "pause", "r", func(now time.Time, old *store.RecurringRow) (*store.RecurringRow, error) {
			past := now.Add(-time.Second)
			old.PausedAt, old.NextRun = &now, &past
			return old, nil
		})
	})
	r.secondWaits()
	r.goOn()
	must(r, first)
	must(r, pause)
	if f, err := r.db.FireDue(r.ctx, oneEach); err != nil || f.Rows != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	row, err := r.db.RecurringOne(r.ctx, "r")
	if err != nil || len(row.Last) != 1 || row.LastFire == nil {
		t.Errorf("%+v, %v", row, err)
	}
}

// A process that stands still between its look and its commit loses its locks.
func TestAStalledFireIsTakenOver(t *testing.T) {
	r := newRace(t, "fire: due read")
	store.SetStandstill(r.first, time.Second)
	r.recur("r", -time.Minute)
	first := apart(func() (store.Fired, error) { return r.first.FireDue(r.ctx, oneEach) })
	<-r.reached
	var f store.Fired
	until(t, "the second fires", func() bool {
		var err error
		if f, err = r.second.FireDue(r.ctx, oneEach); err != nil {
			t.Fatal(err)
		}
		return f.Rows > 0
	})
	r.goOn()
	if o := <-first; o.err == nil {
		t.Error("the stalled one fired too")
	}
	if n := r.count(`select count(*) from tekrar.jobs`); n != 1 {
		t.Errorf("%d jobs", n)
	}
	r.check()
}

// What the database refuses costs that row only: the second job of one fire, or
// args that do not fit.
func TestARefusedFireStopsNoOther(t *testing.T) {
	e := writeSetup(t)
	for i := range 3 {
		e.recur(fmt.Sprint("r", i), -time.Minute)
	}
	var refused error
	decide := func(now time.Time, due []store.Due) []store.Firing {
		firings := oneEach(now, due)
		for i, d := range due {
			switch {
			case d.Refused != nil:
				refused = d.Refused
				firings[i] = store.Firing{ID: d.ID, Error: d.Refused.Error(), Failures: 1, NextRun: now.Add(time.Hour)}
			case d.ID == "r1":
				firings[i].Fires[0].Job.Args = "{}\n" + `{"n": "\u0000"}`
			}
		}
		return firings
	}
	f, err := e.db.FireDue(e.ctx, decide)
	if err != nil || strings.Join(f.Refused, " ") != "r1" || len(f.IDs) != 2 || refused == nil {
		t.Errorf("%+v, %v, %v", f, err, refused)
	}
	row, err := e.db.RecurringOne(e.ctx, "r1")
	if err != nil || row.Error == "" || row.Failures != 1 || len(row.Last) != 0 {
		t.Errorf("%+v, %v", row, err)
	}

	e.exec(`update tekrar.recurring set next_run = last_fire where id = 'r0'`)
	f, err = e.db.FireDue(e.ctx, decide)
	if err != nil || len(f.IDs) != 0 || !strings.Contains(refused.Error(), store.ErrFireTaken.Error()) {
		t.Errorf("%+v, %v, %v", f, err, refused)
	}
	if n := e.count(`select count(*) from tekrar.jobs`); n != 2 {
		t.Errorf("%d jobs", n)
	}
	e.check()
}

// A fire outlives its job: retention writes down how that ended. Then fires go
// too, but the newest 20 stay.
func TestFiresOutliveTheirJobs(t *testing.T) {
	e := writeSetup(t)
	e.recur("r", -time.Minute)
	for range 30 {
		e.exec(`update tekrar.recurring set next_run = clock_timestamp()`)
		if f, err := e.db.FireDue(e.ctx, oneEach); err != nil || len(f.IDs) != 1 {
			t.Fatal(f, err)
		}
	}
	for _, c := range e.claim(29) {
		if c.RecurringID != "r" || time.Since(c.FireAt) > time.Hour {
			t.Errorf("claimed %+v", c)
		}
		e.settle(succeeded(c))
	}
	for range 2 {
		if n, err := e.db.PruneFires(e.ctx, 0); err != nil || n != 0 {
			t.Fatal(n, err) // their jobs are there
		}
		if n, err := e.db.Expire(e.ctx, store.Succeeded, time.Hour); err != nil || n != 0 {
			t.Fatal(n, err)
		}
	}
	if n, err := e.db.Expire(e.ctx, store.Succeeded, 0); err != nil || n != 29 {
		t.Fatal(n, err)
	}
	rows, err := e.db.RecurringAll(e.ctx)
	if err != nil || len(rows) != 1 || len(rows[0].Last) != 20 {
		t.Fatal(rows, err)
	}
	for i, f := range rows[0].Last {
		want := store.Succeeded
		if i == 0 {
			want = store.Enqueued
		}
		if f.State != want || (f.JobID == nil) != (i > 0) || f.Outcome != "enqueued" {
			t.Errorf("fire %d: %+v", i, f)
		}
	}
	if n, err := e.db.PruneFires(e.ctx, time.Hour); err != nil || n != 0 {
		t.Error(n, err)
	}
	if n, err := e.db.PruneFires(e.ctx, 0); err != nil || n != 10 {
		t.Error(n, err)
	}
}

// An unfinished job is found in whichever hot table it is; a finished one is not.
func TestUnfinishedJobsOfARecurringJob(t *testing.T) {
	e := writeSetup(t)
	e.recur("r", -time.Minute)
	look := func() (job int64) {
		t.Helper()
		e.exec(`update tekrar.recurring set next_run = clock_timestamp()`)
		if _, err := e.db.FireDue(e.ctx, func(now time.Time, due []store.Due) []store.Firing {
			job = due[0].Unfinished
			return []store.Firing{{ID: "r", NextRun: now.Add(time.Hour)}}
		}); err != nil {
			t.Fatal(err)
		}
		return job
	}
	if job := look(); job != 0 {
		t.Error("before any fire:", job)
	}
	e.exec(`update tekrar.recurring set next_run = clock_timestamp()`)
	f, err := e.db.FireDue(e.ctx, oneEach)
	if err != nil {
		t.Fatal(err)
	}
	id := f.IDs[0]
	if job := look(); job != id {
		t.Error("enqueued:", job)
	}
	c := e.claim(1)[0]
	if job := look(); job != id {
		t.Error("processing:", job)
	}
	retry := succeeded(c)
	retry.State, retry.Outcome, retry.Cause, retry.Delay = store.Scheduled, store.OutcomeRetried, store.CauseRetry, time.Hour
	e.settle(retry)
	if job := look(); job != id {
		t.Error("scheduled:", job)
	}
	if _, err := e.db.Delete(e.ctx, "ada", []store.Target{{ID: id, Expected: store.Scheduled}}); err != nil {
		t.Fatal(err)
	}
	if job := look(); job != 0 {
		t.Error("deleted:", job)
	}
}
