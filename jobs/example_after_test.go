package jobs_test

import (
	"context"
	"log"

	"github.com/tekrar/tekrar/jobs"
)

type importInvoices struct {
	Supplier int `json:"supplier"`
}

func (importInvoices) Kind() string { return "import-invoices" }

type bookInvoices struct {
	Supplier int `json:"supplier"`
}

func (bookInvoices) Kind() string { return "book-invoices" }

type tellAccounting struct {
	Supplier int `json:"supplier"`
}

func (tellAccounting) Kind() string { return "tell-accounting" }

// Continuations: booking starts when the import succeeded, also when a person had
// to fix it first; accounting is told when it failed for good. Whichever cannot
// come true any more is deleted, with the reason in its history.
func ExampleAfter() {
	db, err := jobs.Open("postgres://localhost/app?sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	client, err := jobs.New(db, jobs.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	imported, err := client.Enqueue(ctx, importInvoices{Supplier: 42})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.EnqueueMany(ctx, []jobs.Item{
		{Args: bookInvoices{Supplier: 42}, Options: []jobs.EnqueueOption{jobs.After(imported.ID, jobs.OnSuccess)}},
		{Args: tellAccounting{Supplier: 42}, Options: []jobs.EnqueueOption{jobs.After(imported.ID, jobs.OnFailure)}},
	})
	if err != nil {
		log.Fatal(err)
	}
}
