package jobs

import (
	"fmt"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

const (
	// recurringPoll is the longest wait between two looks at the recurring jobs:
	// an edit in another process is active by then.
	recurringPoll = time.Second
	// maxFiringTries: a recurring job that cannot fire is looked at so often, with
	// growing waits, eight and a half minutes in all. Then it has no next fire until
	// somebody edits it or a server starts that declares it.
	maxFiringTries = 10
	maxFiringWait  = 5 * time.Minute
)

// sameLook stands for a job that the same look has made.
const sameLook = -1

// fireOf decides about one due recurring job. It is pure: the row and the
// database's now say everything.
func fireOf(now time.Time, d store.Due) store.Firing {
	f := store.Firing{ID: d.ID, NextRun: value(d.NextRun), LastFire: value(d.LastFire), Waiting: value(d.WaitingFire)}
	when, err := scheduleOf(d.RecurringRow)
	var mode schedule.Misfire
	if err == nil {
		mode, err = schedule.ParseMisfire(d.Misfire)
	}
	var overlap Overlap
	if err == nil {
		overlap, err = ParseOverlap(d.Overlap)
	}
	if err == nil {
		err = d.Refused
	}
	if err != nil {
		return putOff(f, now, d.Failures+1, err)
	}
	before := d.Unfinished
	if !f.Waiting.IsZero() && (before == 0 || overlap != OverlapQueueOne) {
		f.Fires = append(f.Fires, fireJob(d, f.Waiting, "waited for the job before it"))
		f.Waiting, before = time.Time{}, sameLook
	}
	if !f.NextRun.IsZero() && !f.NextRun.After(now) {
		last := f.NextRun.Add(-time.Microsecond)
		if f.LastFire.After(last) { // never twice, whatever clocks do
			last = f.LastFire
		}
		fires := schedule.Missed(when, last, now, mode, 0)
		oldest := when.Next(last)
		for i, at := range fires {
			note := ""
			if i == 0 && !at.Equal(oldest) {
				note = missedNote(mode, oldest)
			}
			switch {
			case overlap == OverlapAllow || before == 0:
				f.Fires = append(f.Fires, fireJob(d, at, note))
				before = sameLook
			case overlap == OverlapQueueOne && f.Waiting.IsZero():
				f.Fires = append(f.Fires, store.Fire{At: at, Outcome: store.FireWaiting, Note: "waits: " + unfinishedNote(before)})
				f.Waiting = at
			default:
				f.Fires = append(f.Fires, store.Fire{At: at, Outcome: store.FireSkipped, Note: "skipped: " + unfinishedNote(before)})
			}
			f.LastFire = at
		}
		if len(fires) == 0 && !oldest.IsZero() && !oldest.After(now) {
			latest := schedule.Missed(when, last, now, schedule.RunOnce, 0)[0]
			f.Fires = append(f.Fires, store.Fire{At: latest, Outcome: store.FireSkipped,
				Note: fmt.Sprintf("skipped: missed, and more than %v late", schedule.Grace)})
		}
		f.NextRun = when.Next(now)
	}
	if !f.Waiting.IsZero() {
		f.LookAgain = now.Add(recurringPoll)
	}
	return f
}

// putOff keeps the error and looks again later: after a poll at first, then at
// growing distances.
func putOff(f store.Firing, now time.Time, failures int, err error) store.Firing {
	f.Error, f.Failures = cleanText(err.Error(), maxErrorLine), failures
	f.NextRun = time.Time{}
	if failures < maxFiringTries {
		f.NextRun = now.Add(min(recurringPoll<<(failures-1), maxFiringWait))
	}
	return f
}

func fireJob(d store.Due, at time.Time, note string) store.Fire {
	return store.Fire{At: at, Outcome: store.FireEnqueued, Note: note, Job: jobOf(d.RecurringRow)}
}

// jobOf is the job of one fire.
func jobOf(r store.RecurringRow) store.NewJob {
	j := store.NewJob{Queue: r.Queue, Kind: r.Kind, Priority: int16(r.Priority), Args: string(r.Args), Policy: string(r.Policy)}
	if r.TimeoutMS != nil {
		j.Timeout = time.Duration(*r.TimeoutMS) * time.Millisecond
	}
	return j
}

func missedNote(mode schedule.Misfire, oldest time.Time) string {
	if mode == schedule.RunAll {
		return fmt.Sprintf("fires from %s on were dropped: at most %d at once", stamp(oldest), schedule.MaxMissed)
	}
	return "stands for all fires since " + stamp(oldest)
}

func unfinishedNote(job int64) string {
	if job == sameLook {
		return "the fire before it has not finished"
	}
	return fmt.Sprintf("job %d has not finished", job)
}

func value(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// stamp writes a time for people, with a fraction only if there is one.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") + " UTC" }
