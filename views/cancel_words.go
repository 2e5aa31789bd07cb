package views

import "github.com/tekrar/tekrar/views/locale"

// cancelWords say who asked a running attempt to end, when, whether its server has
// acknowledged that, and what to expect. slot1 is when somebody asked, slot2 when the
// server acknowledged it.
func cancelWords(in *locale.Locale, c CancelProps) string {
	by := clip(c.By, 60)
	switch heard := c.AcknowledgedAt != nil; {
	case c.Ignored && heard:
		return in.Say("Cancel requested by %s %s, acknowledged %s: ignored. The handler has not returned; it keeps its worker until it does. Delete frees the job at once, not the worker.", by, slot1, slot2)
	case c.Ignored:
		return in.Say("Cancel requested by %s %s: ignored. The handler has not returned; it keeps its worker until it does. Delete frees the job at once, not the worker.", by, slot1)
	case heard:
		return in.Say("Cancel requested by %s %s, acknowledged %s: the handler still runs.", by, slot1, slot2)
	}
	return in.Say("Cancel requested by %s %s: its context is cancelled within two seconds, and its handler has not returned yet.", by, slot1)
}

// cancelHeeded says of a job whose last attempt was asked to end how that went.
func cancelHeeded(in *locale.Locale, p JobProps) string {
	if len(p.History) == 0 {
		return ""
	}
	h := p.History[0]
	if h.Cancel == nil || h.State != p.State || h.Duration == nil { // without a duration no handler returned
		return ""
	}
	by, took := clip(h.Cancel.By, 60), in.Duration(max(0, h.At.Sub(h.Cancel.At)))
	if h.State == Succeeded {
		return in.Say("Cancel requested by %s, too late: the handler had done its work when it returned, %s after.", by, took)
	}
	return in.Say("Cancel requested by %s and heeded: the handler returned %s after.", by, took)
}
