package bookstore

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// line is a row of a listing: what the article prints, without times.
type line struct {
	State   string
	Attempt int
	Reason  string
}

func listing(d store.JobDetail) []line {
	var out []line
	for _, h := range oldestFirst(d) {
		out = append(out, line{h.State.String(), h.Attempt, h.Reason})
	}
	return out
}

// The article's first listing: two timeouts, then success, with the real waits.
func TestImportListing(t *testing.T) {
	t.Parallel()
	s := open(t, Config{SupplierWait: -1})
	id := s.enqueue(t, InvoiceImport{InvoiceID: 7001})
	d := s.until(t, id, store.Succeeded, store.Failed)
	want := []line{
		{"enqueued", 0, ""},
		{"processing", 1, ""},
		{"failed", 1, "An error occurred during attempt 1"},
		{"scheduled", 1, "Retry attempt 1 of 3: Supplier API did not respond in 10 s"},
		{"enqueued", 1, "Triggered by scheduler"},
		{"processing", 2, ""},
		{"failed", 2, "An error occurred during attempt 2"},
		{"scheduled", 2, "Retry attempt 2 of 3: Supplier API did not respond in 10 s"},
		{"enqueued", 2, "Triggered by scheduler"},
		{"processing", 3, ""},
		{"succeeded", 3, ""},
	}
	if diff := cmp.Diff(want, listing(d)); diff != "" {
		t.Fatalf("history (-want +got):\n%s", diff)
	}
	rows := oldestFirst(d)
	for i, wait := range map[int]time.Duration{2: 2 * time.Second, 6: 5 * time.Second} {
		// Never early, and at one instant with the row that says so.
		if !rows[i].At.Equal(rows[i+1].At) {
			t.Errorf("failed at %v but scheduled at %v", rows[i].At, rows[i+1].At)
		}
		got := rows[i+3].At.Sub(rows[i].At)
		if got < wait || got > wait+3*time.Second {
			t.Errorf("attempt after row %d started %v after the failure, want %v and little more", i, got, wait)
		}
		if due := runAt(t, rows[i+1]).Sub(rows[i+1].At); due < wait {
			t.Errorf("run_at is %v after the failure, want %v", due, wait)
		}
	}
}

func runAt(t *testing.T, h store.HistoryRow) time.Time {
	t.Helper()
	var data struct {
		RunAt time.Time `json:"run_at"`
	}
	if err := json.Unmarshal(h.Data, &data); err != nil {
		t.Fatalf("data %s: %v", h.Data, err)
	}
	return data.RunAt
}

// The article's second listing: a permanent error uses none of the three retries.
func TestReconcileListing(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	id := s.enqueue(t, InvoiceReconcile{InvoiceID: 7001})
	d := s.until(t, id, store.Failed, store.Succeeded)
	want := []line{
		{"enqueued", 0, ""},
		{"processing", 1, ""},
		{"failed", 1, "An error occurred during attempt 1"},
	}
	if diff := cmp.Diff(want, listing(d)); diff != "" {
		t.Fatalf("history (-want +got):\n%s", diff)
	}
	if d.ErrorLine != "Invoice 7001 is in a closed period" || d.Retry != 0 {
		t.Errorf("error %q, %d retries used", d.ErrorLine, d.Retry)
	}
}

// Run once and a fresh budget both end where the card says: failed.
func TestReconcileStaysFailed(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	id := s.enqueue(t, InvoiceReconcile{InvoiceID: 7001})
	s.until(t, id, store.Failed)
	for attempt, budget := range []jobs.Budget{jobs.KeepRetries, jobs.FreshBudget} {
		moved, err := s.client.Requeue(t.Context(), "ada", budget, jobs.Target{ID: id, Expected: store.Failed})
		if err != nil || moved[0].Err != nil {
			t.Fatal(err, moved)
		}
		s.when(t, id, func(d store.JobDetail) bool { return d.State == store.Failed && d.Attempt == attempt+2 })
	}
}

func TestSecondImportBooksNothingNew(t *testing.T) {
	t.Parallel()
	s := open(t, Config{SupplierWait: -1, ImportDelays: []time.Duration{10 * time.Millisecond}})
	// At the same time, and once more afterwards: each meets a silent supplier twice.
	first, second := s.enqueue(t, InvoiceImport{InvoiceID: 7001}), s.enqueue(t, InvoiceImport{InvoiceID: 7001})
	for _, id := range []int64{first, second} {
		if d := s.until(t, id, store.Succeeded, store.Failed); d.State != store.Succeeded || d.Attempt != 3 {
			t.Errorf("job %d: %s at attempt %d", id, d.State, d.Attempt)
		}
	}
	third := s.enqueue(t, InvoiceImport{InvoiceID: 7001})
	if d := s.until(t, third, store.Succeeded, store.Failed); d.State != store.Succeeded || d.Attempt != 3 {
		t.Errorf("third import: %s at attempt %d", d.State, d.Attempt)
	}
	if n := s.ledger.Len(); n != 1 {
		t.Errorf("%d invoices are booked, want 1", n)
	}
}
