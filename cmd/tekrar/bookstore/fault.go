package bookstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// fault is where a worker process stops with the mails of some invoices: it says so,
// and waits to be killed or told to go on. Then that point stops nobody any more.
type fault struct {
	points   []string // "claimed", "begun" (right before the send), "sent", "failed" (the call has), "marked"
	invoices []int64
	out      io.Writer

	mu    sync.Mutex
	gates map[string]chan struct{} // by point that somebody has reached; closed: it is open
}

func (f *fault) concerns(point string, invoice int64) bool {
	return f != nil && slices.Contains(f.points, point) && slices.Contains(f.invoices, invoice)
}

func (f *fault) reach(point string, invoice int64) {
	if !f.concerns(point, invoice) {
		return
	}
	<-f.gate(point)
}

// gate says that the point is reached, unless it is open.
func (f *fault) gate(point string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gates == nil {
		f.gates = map[string]chan struct{}{}
	}
	gate := f.gates[point]
	if gate == nil {
		gate = make(chan struct{})
		f.gates[point] = gate
	}
	if !isOpen(gate) {
		fmt.Fprintln(f.out, "reached", point)
	}
	return gate
}

func isOpen(gate chan struct{}) bool {
	select {
	case <-gate:
		return true
	default:
		return false
	}
}

// goOn is what a worker process is told on its input.
const goOn = "go on"

// obey lets those who wait go on each time that in says so, until in ends.
func (f *fault) obey(in io.Reader) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if lines.Text() == goOn {
			f.open()
		}
	}
}

func (f *fault) open() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, gate := range f.gates {
		if !isOpen(gate) {
			close(gate)
		}
	}
}

// faulty is a transport that can stop right before and right after a request.
type faulty struct {
	lab  *Lab
	next http.RoundTripper
}

type invoiceKey struct{}

func withInvoice(ctx context.Context, id int64) context.Context {
	return context.WithValue(ctx, invoiceKey{}, id)
}

func (f faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	id, _ := r.Context().Value(invoiceKey{}).(int64)
	stop := f.lab.fault
	if stop.concerns("begun", id) || stop.concerns("sent", id) {
		// A process may stand still right behind the last look at any deadline, and
		// then nothing holds back what it does next.
		r = r.WithContext(context.WithoutCancel(r.Context()))
	}
	stop.reach("begun", id)
	resp, err := f.next.RoundTrip(r)
	if err == nil {
		stop.reach("sent", id)
	}
	return resp, err
}
