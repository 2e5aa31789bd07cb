package views

import "time"

// CancelProps is a request to end a running attempt.
type CancelProps struct {
	At time.Time
	By string
	// AcknowledgedAt is when the handler's server cancelled its context; nil: not yet.
	AcknowledgedAt *time.Time
	Ignored        bool // the handler runs on for 30 s since then, or since At when there is none
}
