package bookstore

import (
	"context"
	"fmt"

	"github.com/tekrar/tekrar/jobs"
)

// InvoiceImport fetches one invoice from its supplier and books it. The supplier
// is silent twice, so attempt 3 succeeds; a second import of the same invoice meets
// the same supplier and books nothing new.
type InvoiceImport struct {
	InvoiceID int64 `json:"invoice_id"`
}

// Kind names the job.
func (InvoiceImport) Kind() string { return "supplier-invoice-import" }

func (w *World) importInvoice(ctx context.Context, job *jobs.Job[InvoiceImport]) error {
	job.Log("asking the supplier for invoice %d", job.Args.InvoiceID)
	invoice, err := w.supplier.Fetch(ctx, job.Args.InvoiceID, job.ID, job.Attempt-1)
	if err != nil {
		return err
	}
	job.Log("the supplier sent invoice %d", invoice.Number)
	if !w.ledger.Book(invoice) {
		w.log.InfoContext(ctx, "invoice was booked before, nothing changed", "invoice", invoice.Number)
	}
	return nil
}

// InvoiceReconcile matches one invoice with the bank's statement. The books of its
// month are closed: however often it runs, it fails, and no retry is tried.
type InvoiceReconcile struct {
	InvoiceID int64 `json:"invoice_id"`
}

// Kind names the job.
func (InvoiceReconcile) Kind() string { return "supplier-invoice-reconcile" }

// ClosedPeriod: the books of that month are closed. Time does not help.
type ClosedPeriod struct{ InvoiceID int64 }

func (e *ClosedPeriod) Error() string {
	return fmt.Sprintf("Invoice %d is in a closed period", e.InvoiceID)
}

func (w *World) reconcileInvoice(_ context.Context, job *jobs.Job[InvoiceReconcile]) error {
	return &ClosedPeriod{InvoiceID: job.Args.InvoiceID}
}
