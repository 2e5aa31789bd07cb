package views

import "time"

// CancelProps is a request to end a running attempt.
type CancelProps struct {
	At      time.Time
	By      string
	Ignored bool // the handler runs on for 30 s since then
}
