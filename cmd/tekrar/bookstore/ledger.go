package bookstore

import "sync"

// Ledger holds the booked invoices. Booking an invoice again changes nothing:
// every job may run twice, the books must not show it.
type Ledger struct {
	mu     sync.Mutex
	booked map[int64]Invoice
}

// NewLedger makes an empty ledger.
func NewLedger() *Ledger { return &Ledger{booked: map[int64]Invoice{}} }

// Book enters an invoice and reports whether it was new.
func (l *Ledger) Book(i Invoice) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.booked[i.Number]; ok {
		return false
	}
	l.booked[i.Number] = i
	return true
}

// Len is how many invoices are booked.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.booked)
}
