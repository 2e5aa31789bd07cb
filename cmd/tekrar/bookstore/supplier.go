package bookstore

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// SupplierTimeout is what the bookshop gets from a supplier that stays silent.
type SupplierTimeout struct{ After time.Duration }

func (e *SupplierTimeout) Error() string {
	return fmt.Sprintf("Supplier API did not respond in %.0f s", e.After.Seconds())
}

// Supplier is a made-up supplier: slow to wake up, and honest once awake. It stays
// silent for the first calls of each request and answers every later one.
//
// Calls are counted by invoice and request, so that two imports of one invoice each
// meet the same supplier. A request that was answered is forgotten: only requests
// that were given up stay, the oldest of them at most until maxWaiting others came.
type Supplier struct {
	wait time.Duration

	mu    sync.Mutex
	calls map[call]int
	order []call
}

type call struct{ invoice, request int64 }

const (
	silentCalls = 2                // how many calls of a request stay unanswered
	patience    = 10 * time.Second // what the bookshop says it waited
	maxWaiting  = 10_000
)

// NewSupplier makes a supplier; wait is the real time that a call takes.
func NewSupplier(wait time.Duration) *Supplier {
	return &Supplier{wait: wait, calls: map[call]int{}}
}

// Invoice is what the supplier sends.
type Invoice struct {
	Number int64
	Cents  int64
}

// Fetch asks for an invoice. tries is how often the caller has asked before: a
// supplier that was restarted believes it, so that nobody waits longer than the
// first time.
func (s *Supplier) Fetch(ctx context.Context, invoice, request int64, tries int) (Invoice, error) {
	if err := pause(ctx, s.wait); err != nil {
		return Invoice{}, err
	}
	if s.awake(call{invoice, request}, tries) {
		return Invoice{Number: invoice, Cents: 1_000 + invoice*37%90_000}, nil
	}
	return Invoice{}, &SupplierTimeout{After: patience}
}

func (s *Supplier) awake(c call, tries int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, known := s.calls[c]
	n = max(n, tries) + 1
	if n > silentCalls {
		delete(s.calls, c)
		return true
	}
	if !known {
		s.order = append(s.order, c)
		if len(s.order) > maxWaiting {
			delete(s.calls, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.calls[c] = n
	return false
}
