package jobs

import (
	"context"

	"github.com/tekrar/tekrar/store"
)

// Cancel asks the attempts that run processing jobs to end: the contexts of their
// handlers are cancelled with ErrCancelled within two seconds, also while their
// server drains. A job stays in processing until its handler returns. If that
// returns nil, the work was done and the job has succeeded; if it returns an error,
// any error, the job is deleted, "Cancelled by <actor>", and nothing is retried. The
// same becomes of a job whose server is lost before the handler has returned. The
// last history row keeps the request either way (data, key cancel_requested).
//
// A job in any other state is refused with store.ErrStateChanged: Delete is for
// those. Delete of a processing job does not wait for its handler. Asking twice is
// fine; history names who asked first.
func (c *Client) Cancel(ctx context.Context, actor string, targets ...Target) ([]Moved, error) {
	return c.act(actor, targets, func() ([]Moved, error) { return c.db.Cancel(ctx, actor, targets) })
}

// cancelAsked cancels the attempts that people asked to end, and returns those of
// which the database does not say yet that they were.
func (h *held) cancelAsked(asked map[store.Token]store.CancelRequest) (unsaid []store.Token) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for t, request := range asked {
		a := h.live[t.ID]
		if a == nil || a.Attempt != t.Attempt {
			continue
		}
		if a.asked == nil {
			a.asked = &request
			a.stop(ErrCancelled)
		}
		if request.AcknowledgedAt == nil {
			unsaid = append(unsaid, t)
		}
	}
	return unsaid
}

// acknowledge tells the person who asked that the handlers' contexts were cancelled.
// What fails here is found again by the next look.
func (e *engine) acknowledge(ctx context.Context, server int64, unsaid []store.Token) error {
	if len(unsaid) == 0 {
		return nil
	}
	noted, err := e.db.AcknowledgeCancels(ctx, server, unsaid)
	for _, t := range noted {
		e.c.changes.add(t.ID)
	}
	return err
}

// askedOf is the request to end a, nil if this process knows of none. The settle
// heeds one that it did not know.
func (h *held) askedOf(a *attempt) *store.CancelRequest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return a.asked
}

// cancelledBy ends the job of an attempt that was asked to end and did not succeed:
// who asked does not want it again, whatever the error and the budget say.
func (d decision) cancelledBy(res result, err error, by string) decision {
	if _, snoozed := ruling(err).(*snoozeError); !snoozed {
		d.describe(res, err)
		d.FailedReason = ""
	}
	d.State, d.Outcome = store.Deleted, store.OutcomeCancelled
	d.Reason, d.Rule = "Cancelled by "+by, "a cancel was requested"
	return d
}
