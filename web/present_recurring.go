package web

import (
	"strconv"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
)

// presentRecurring also says the schedule in words. One that cannot be read any more
// (an edited row, an older zone database) has none.
func (d *Dashboard) presentRecurring(r store.RecurringRow) views.RecurringRowProps {
	p := views.RecurringRowProps{
		ID: r.ID, Kind: r.Kind, Queue: r.Queue, Spec: r.Spec, Zone: r.Zone,
		StartAt: r.StartAt, EndAt: r.EndAt, PausedAt: r.PausedAt, PausedBy: r.PausedBy, RemovedAt: r.RemovedAt,
		Declared: r.Declared, Warning: r.Warning, Error: r.Error,
	}
	if words, _, err := d.client.PreviewRecurring(r.Spec, r.Zone, r.StartAt, r.EndAt, 0); err == nil {
		p.Words = words
	}
	loc := zoneOf(r.Zone)
	if r.NextRun != nil {
		next := r.NextRun.In(loc)
		p.Next = &next
	}
	p.Fires = make([]views.FireProps, len(r.Last))
	for i, f := range r.Last {
		p.Fires[i] = presentFire(f, loc)
	}
	return p
}

func presentFire(f store.FireRow, loc *time.Location) views.FireProps {
	p := views.FireProps{At: f.FireAt.In(loc), Outcome: f.Outcome, Note: f.Note, Attempt: f.Attempt, Retry: f.Retry, MaxRetries: f.MaxRetries}
	if f.JobID != nil {
		p.Job = strconv.FormatInt(*f.JobID, 10)
	}
	if f.State != 0 {
		p.State = views.State(f.State.String())
	}
	return p
}

// zoneOf is the place of a stored zone, UTC when it is not known any more.
func zoneOf(zone string) *time.Location {
	s, err := schedule.Parse("@hourly", zone)
	if err != nil {
		return time.UTC
	}
	return s.Location()
}

func (d *Dashboard) presentRecurringOne(r store.RecurringRow) views.RecurringOneProps {
	p := views.RecurringOneProps{
		RecurringRowProps: d.presentRecurring(r), Priority: r.Priority, Misfire: r.Misfire, Overlap: r.Overlap,
		Policy: string(r.Policy), Args: string(d.o.Redact.JSON(r.Args)), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.TimeoutMS != nil {
		timeout := time.Duration(*r.TimeoutMS) * time.Millisecond
		p.Timeout = &timeout
	}
	return p
}
