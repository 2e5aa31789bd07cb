package jobs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

// now of the conformance rows is half past, and the schedule fires at :00.
var halfPast = time.Date(2026, 3, 10, 14, 30, 0, 0, time.UTC)

func at(d time.Duration) *time.Time { t := halfPast.Add(d); return &t }

// hourly is a due recurring job whose next fire was next ago.
func hourly(mode schedule.Misfire, next time.Duration) store.Due {
	return store.Due{RecurringRow: store.RecurringRow{ID: "r", Kind: "k", Queue: "q", Spec: "0 * * * *", Zone: "UTC",
		Misfire: mode.String(), Overlap: "allow", NextRun: at(next), CreatedAt: halfPast.Add(-9000 * time.Hour)}}
}

func madeJobs(f store.Firing) (fires []time.Duration) {
	for _, one := range f.Fires {
		if one.Outcome == store.FireEnqueued {
			fires = append(fires, one.At.Sub(halfPast))
		}
	}
	return fires
}

// Rows 68 to 72: what becomes of missed fires, and what is next. The fire time of
// the one job for many fires is that of the latest (engine.md §9), not now.
func TestConformanceMisfires_Rows68to72(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	atHalf := func(mode schedule.Misfire, next time.Duration) store.Due {
		d := hourly(mode, next)
		d.Spec = "30 * * * *"
		return d
	}
	late := func(d time.Duration) time.Time { return halfPast.Add(d) }
	for _, c := range []struct {
		row  string
		d    store.Due
		now  time.Time
		want []time.Duration
		last *time.Time
		next time.Duration
	}{
		{"68 relaxed, a day", hourly(schedule.RunOnce, -24*time.Hour+30*m), halfPast, []time.Duration{-30 * m}, at(-30 * m), 30 * m},
		{"69 strict, three hours", hourly(schedule.RunAll, -150*m), halfPast, []time.Duration{-150 * m, -90 * m, -30 * m}, at(-30 * m), 30 * m},
		{"70 ignorable, three hours", hourly(schedule.Skip, -150*m), halfPast, nil, nil, 30 * m},
		{"71 ignorable, 123 ms late", atHalf(schedule.Skip, 0), late(123 * time.Millisecond), []time.Duration{0}, at(0), 60 * m},
		{"72 due now, relaxed", atHalf(schedule.RunOnce, 0), halfPast, []time.Duration{0}, at(0), 60 * m},
		{"72 due now, strict", atHalf(schedule.RunAll, 0), halfPast, []time.Duration{0}, at(0), 60 * m},
		{"72 due now, ignorable", atHalf(schedule.Skip, 0), halfPast, []time.Duration{0}, at(0), 60 * m},
	} {
		t.Run(c.row, func(t *testing.T) {
			f := fireOf(c.now, c.d)
			if diff := cmp.Diff(c.want, madeJobs(f)); diff != "" {
				t.Error("fires:", diff)
			}
			if want := value(c.last); !f.LastFire.Equal(want) {
				t.Errorf("last fire %v, want %v", f.LastFire, want)
			}
			if got := f.NextRun.Sub(halfPast); got != c.next {
				t.Errorf("next in %v, want %v", got, c.next)
			}
			if f.Error != "" || f.Failures != 0 {
				t.Error(f.Error)
			}
		})
	}
}

// What did not run is kept with the reason.
func TestMissedFiresAreNoted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d    store.Due
		n    int
		want store.Fire
	}{
		"skip":     {hourly(schedule.Skip, -150*time.Minute), 1, store.Fire{Outcome: store.FireSkipped, At: *at(-30 * time.Minute), Note: "skipped: missed, and more than 30s late"}},
		"run once": {hourly(schedule.RunOnce, -150*time.Minute), 1, store.Fire{Outcome: store.FireEnqueued, At: *at(-30 * time.Minute), Note: "stands for all fires since 2026-03-10 12:00:00 UTC"}},
		"run all, too many": {hourly(schedule.RunAll, -8000*time.Hour-30*time.Minute), 1000, store.Fire{Outcome: store.FireEnqueued, At: *at(-999*time.Hour - 30*time.Minute),
			Note: "fires from 2025-04-11 06:00:00 UTC on were dropped: at most 1000 at once"}},
	} {
		f := fireOf(halfPast, c.d)
		if len(f.Fires) != c.n {
			t.Fatalf("%s: %d fires", name, len(f.Fires))
		}
		got := f.Fires[0]
		got.Job = store.NewJob{}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Rows 73 to 75: an error is kept and looked at again, first after a poll; ten in
// a row end it; a success clears it. Row 76: no zone is UTC.
func TestConformanceErrors_Rows73to76(t *testing.T) {
	t.Parallel()
	d := hourly(schedule.RunOnce, -30*time.Minute)
	d.Spec = "nonsense"
	f := fireOf(halfPast, d)
	if len(f.Fires) != 0 || f.Failures != 1 || f.NextRun.Sub(halfPast) != recurringPoll || f.Error == "" {
		t.Errorf("row 73: %+v", f)
	}
	waits := time.Duration(0)
	for d.Failures < maxFiringTries-1 {
		d.Failures = fireOf(halfPast, d).Failures
		waits += time.Second << (d.Failures - 1)
		if got := fireOf(halfPast, d).NextRun.Sub(halfPast); d.Failures < maxFiringTries-1 && got != time.Second<<d.Failures {
			t.Errorf("after %d failures it waits %v", d.Failures+1, got)
		}
	}
	if waits != 511*time.Second {
		t.Errorf("gives up after %v", waits)
	}
	f = fireOf(halfPast, d)
	if !f.NextRun.IsZero() || f.Error == "" || f.Failures != maxFiringTries {
		t.Errorf("row 74: %+v", f)
	}
	d = hourly(schedule.RunOnce, -30*time.Minute)
	d.Failures, d.Error, d.Zone = 3, "it was wrong", ""
	f = fireOf(halfPast, d)
	if f.Error != "" || f.Failures != 0 || len(f.Fires) != 1 || f.NextRun.Sub(halfPast) != 30*time.Minute {
		t.Errorf("rows 75 and 76: %+v", f)
	}
}

// Rows 79 and 80: an unchanged schedule keeps its overdue fire, a changed one looks anew.
func TestConformanceEdits_Rows79and80(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 15, 30, 0, 0, time.UTC)
	overdue := time.Date(2026, 3, 10, 12, 30, 0, 0, time.UTC)
	old := store.RecurringRow{ID: "r", Spec: "30 12 * * *", Zone: "UTC", NextRun: &overdue, CreatedAt: overdue.Add(-time.Hour)}
	same, err := merged(now, &old, store.RecurringRow{ID: "r", Spec: "30 12 * * *", Zone: "UTC", Priority: 3})
	if err != nil || !same.NextRun.Equal(overdue) || same.Priority != 3 {
		t.Errorf("row 79: %+v, %v", same, err)
	}
	changed, err := merged(now, &old, store.RecurringRow{ID: "r", Spec: "30 13 * * *", Zone: "UTC"})
	if err != nil || changed.NextRun.Sub(now) != 22*time.Hour || !changed.CreatedAt.Equal(old.CreatedAt) {
		t.Errorf("row 80: %+v, %v", changed, err)
	}
	zone, err := merged(now, &old, store.RecurringRow{ID: "r", Spec: "30 12 * * *", Zone: "Europe/Istanbul"})
	if err != nil || zone.NextRun.Sub(now) != 18*time.Hour {
		t.Errorf("another zone: %+v, %v", zone, err)
	}
}

// A job made for a fire is made for no fire up to it again, whatever the stored
// next fire says.
func TestAFireIsNeverRepeated(t *testing.T) {
	t.Parallel()
	d := hourly(schedule.RunAll, -150*time.Minute)
	d.LastFire = at(-90 * time.Minute)
	if diff := cmp.Diff([]time.Duration{-30 * time.Minute}, madeJobs(fireOf(halfPast, d))); diff != "" {
		t.Error(diff)
	}
	d.LastFire = at(-30 * time.Minute)
	if f := fireOf(halfPast, d); len(f.Fires) != 0 || f.NextRun.Sub(halfPast) != 30*time.Minute {
		t.Errorf("%+v", f)
	}
}

// UNQ-06: what overlaps is decided by the rule, fires of one look included.
func TestOverlapRules_UNQ06(t *testing.T) {
	t.Parallel()
	outcomes := func(f store.Firing) (list []string) {
		for _, one := range f.Fires {
			list = append(list, one.Outcome.String()+" "+one.Note)
		}
		return list
	}
	for _, c := range []struct {
		name       string
		rule       Overlap
		unfinished int64
		waiting    *time.Time
		want       []string
		waits      bool
	}{
		{"allow", OverlapAllow, 7, nil, []string{"enqueued ", "enqueued ", "enqueued "}, false},
		{"skip, busy", OverlapSkip, 7, nil, []string{"skipped skipped: job 7 has not finished", "skipped skipped: job 7 has not finished", "skipped skipped: job 7 has not finished"}, false},
		{"skip, idle", OverlapSkip, 0, nil, []string{"enqueued ", "skipped skipped: the fire before it has not finished", "skipped skipped: the fire before it has not finished"}, false},
		{"queue, idle", OverlapQueueOne, 0, nil, []string{"enqueued ", "waiting waits: the fire before it has not finished", "skipped skipped: the fire before it has not finished"}, true},
		{"queue, busy", OverlapQueueOne, 7, nil, []string{"waiting waits: job 7 has not finished", "skipped skipped: job 7 has not finished", "skipped skipped: job 7 has not finished"}, true},
		{"queue, full", OverlapQueueOne, 7, at(-time.Hour), []string{"skipped skipped: job 7 has not finished", "skipped skipped: job 7 has not finished", "skipped skipped: job 7 has not finished"}, true},
		{"queue, full, and free now", OverlapQueueOne, 0, at(-time.Hour), []string{"enqueued waited for the job before it", "waiting waits: the fire before it has not finished",
			"skipped skipped: the fire before it has not finished", "skipped skipped: the fire before it has not finished"}, true},
		{"waiting, but the rule is allow now", OverlapAllow, 7, at(-time.Hour), []string{"enqueued waited for the job before it", "enqueued ", "enqueued ", "enqueued "}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := hourly(schedule.RunAll, 0)
			d.Spec, d.NextRun, d.Overlap, d.Unfinished, d.WaitingFire = "* * * * * *", at(-2*time.Second), c.rule.String(), c.unfinished, c.waiting
			f := fireOf(halfPast, d)
			if diff := cmp.Diff(c.want, outcomes(f)); diff != "" {
				t.Error(diff)
			}
			if f.Waiting.IsZero() == c.waits || f.LookAgain.IsZero() == c.waits {
				t.Errorf("waiting %v, look again %v", f.Waiting, f.LookAgain)
			}
			if !f.LastFire.Equal(halfPast) {
				t.Errorf("last fire %v", f.LastFire)
			}
		})
	}
}
