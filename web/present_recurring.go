package web

import (
	"strconv"
	"time"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

// presentRecurring also says the schedule in words. One that cannot be read any more
// (an edited row, an older zone database) has none.
func (d *Dashboard) presentRecurring(in *locale.Locale, r store.RecurringRow) views.RecurringRowProps {
	p := views.RecurringRowProps{
		ID: r.ID, Kind: r.Kind, Queue: r.Queue, Spec: r.Spec, Zone: r.Zone,
		PausedAt: r.PausedAt, PausedBy: r.PausedBy, RemovedAt: r.RemovedAt,
		Declared: r.Declared, Warning: r.Warning, Error: r.Error,
	}
	if said, _, err := d.client.PreviewRecurring(r.Spec, r.Zone, r.StartAt, r.EndAt, 0); err == nil {
		p.Words = said.Say(in.Say)
	}
	loc, _ := zoneOf(r.Zone)
	p.Next, p.StartAt, p.EndAt = inZone(r.NextRun, loc), inZone(r.StartAt, loc), inZone(r.EndAt, loc)
	p.Fires = make([]views.FireProps, len(r.Last))
	for i, f := range r.Last {
		p.Fires[i] = presentFire(f, loc)
	}
	return p
}

func inZone(t *time.Time, loc *time.Location) *time.Time {
	if t == nil {
		return nil
	}
	there := t.In(loc)
	return &there
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

func (d *Dashboard) presentRecurringOne(in *locale.Locale, r store.RecurringRow) views.RecurringOneProps {
	p := views.RecurringOneProps{
		RecurringRowProps: d.presentRecurring(in, r), Priority: r.Priority, Misfire: r.Misfire, Overlap: r.Overlap,
		Policy: string(r.Policy), Args: string(d.o.Redact.JSON(r.Args)), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.TimeoutMS != nil {
		timeout := time.Duration(*r.TimeoutMS) * time.Millisecond
		p.Timeout = &timeout
	}
	return p
}
