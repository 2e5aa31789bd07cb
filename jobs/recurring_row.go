package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/tekrar/tekrar/jobs/schedule"
	"github.com/tekrar/tekrar/store"
)

// recurringRow checks a spec and gives the row that it means. The queue is left
// empty if the spec names none.
func (c *Client) recurringRow(s RecurringSpec, now time.Time) (store.RecurringRow, error) {
	r := store.RecurringRow{ID: s.ID, Kind: s.Kind, Queue: s.Queue, Priority: s.Priority, Spec: s.Spec, Zone: s.Zone,
		Misfire: s.Misfire.String(), Overlap: s.Overlap.String(), StartAt: instant(s.Start), EndAt: instant(s.End), CreatedAt: now}
	errs := []error{checkName("id", s.ID), checkKind(s.Kind), checkPriority(s.Priority)}
	if s.Queue != "" {
		errs = append(errs, checkQueue(s.Queue))
	}
	args := s.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	text, err := checkRawArgs(args, c.cfg.MaxArgs)
	r.Args, errs = json.RawMessage(text), append(errs, err)
	if s.Retry != nil {
		text, err := encodeJobPolicy(*s.Retry)
		r.Policy, errs = json.RawMessage(text), append(errs, err)
	}
	if s.Timeout != 0 {
		ms := s.Timeout.Milliseconds()
		r.TimeoutMS, errs = &ms, append(errs, checkTimeout(s.Timeout))
	}
	if _, err := schedule.ParseMisfire(r.Misfire); err != nil {
		errs = append(errs, inputError("misfire", "is none of schedule.RunOnce, RunAll and Skip"))
	}
	if _, err := ParseOverlap(r.Overlap); err != nil {
		errs = append(errs, err)
	}
	when, err := scheduleOf(r)
	if errs = append(errs, err); err == nil {
		r.Spec, r.Zone = when.Spec(), when.Zone()
	}
	return r, errors.Join(errs...)
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}

// scheduleOf builds the schedule of a row. An interval without a start counts
// from the moment the row was first stored, so that no restart moves it.
func scheduleOf(r store.RecurringRow) (schedule.Schedule, error) {
	s, err := schedule.Parse(r.Spec, r.Zone)
	var b schedule.Bounds
	if err == nil {
		switch {
		case r.StartAt != nil:
			b.Start = *r.StartAt
		case s.Every() > 0:
			b.Start = r.CreatedAt
		}
		if r.EndAt != nil {
			b.End = *r.EndAt
		}
		s, err = s.Within(b)
	}
	var wrong *schedule.Error
	if errors.As(err, &wrong) {
		return s, scheduleError(wrong)
	}
	return s, err
}

// definitionOf is equal for rows that say the same.
func definitionOf(r store.RecurringRow) string {
	text, _ := json.Marshal([]any{r.Kind, r.Queue, r.Priority, r.Args, r.Spec, r.Zone, r.Misfire, r.Overlap, r.Policy, r.TimeoutMS, r.StartAt, r.EndAt})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// merged gives what is stored when r takes the place of old, which may be nil.
// The next fire is looked for anew when the times changed; otherwise an overdue
// one stays, and the misfire rule decides about it.
func merged(now time.Time, old *store.RecurringRow, r store.RecurringRow) (*store.RecurringRow, error) {
	r.CreatedAt = now
	keep := false
	if old != nil {
		r.CreatedAt, r.PausedAt, r.PausedBy = old.CreatedAt, old.PausedAt, old.PausedBy
		keep = old.RemovedAt == nil && old.Error == "" && old.Spec == r.Spec && old.Zone == r.Zone &&
			sameInstant(old.StartAt, r.StartAt) && sameInstant(old.EndAt, r.EndAt)
	}
	if keep {
		r.NextRun = old.NextRun
		return &r, nil
	}
	s, err := scheduleOf(r)
	if err != nil {
		return nil, err
	}
	r.NextRun = instant(s.Next(now))
	return &r, nil
}

func sameInstant(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}
