package bookstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
)

// Three ways to book one sale. Each may be asked to lose its result a few times
// after the update was committed, which makes it run again.
type (
	// StockDecrement subtracts: every run subtracts again.
	StockDecrement struct {
		Book  string `json:"book"`
		Loses int    `json:"loses,omitempty"` // attempts that fail after their update
	}
	// StockSet writes the new quantity: a second run changes nothing, but a sale
	// in between is forgotten.
	StockSet struct {
		Book     string `json:"book"`
		Quantity int    `json:"quantity"`
		Loses    int    `json:"loses,omitempty"`
	}
	// StockMovement adds a movement with an id of its own to a ledger, once, and the
	// quantity moves with it.
	StockMovement struct {
		Book     string `json:"book"`
		Movement string `json:"movement"`
		Change   int    `json:"change"`
		Loses    int    `json:"loses,omitempty"`
	}
)

// Kind names the job.
func (StockDecrement) Kind() string { return "stock-decrement" }

// Kind names the job.
func (StockSet) Kind() string { return "stock-set" }

// Kind names the job.
func (StockMovement) Kind() string { return "stock-movement" }

var errResultLost = errors.New("the connection broke after the update was committed")

func (l *Lab) decrementStock(ctx context.Context, job *jobs.Job[StockDecrement]) error {
	found, err := l.tables.changed(ctx, `update bookstore.stock set quantity = quantity - 1 where book = $1`, job.Args.Book)
	return booked(found, err, job.Args.Book, job.Attempt, job.Args.Loses)
}

func (l *Lab) setStock(ctx context.Context, job *jobs.Job[StockSet]) error {
	found, err := l.tables.changed(ctx, `update bookstore.stock set quantity = $2 where book = $1`, job.Args.Book, job.Args.Quantity)
	return booked(found, err, job.Args.Book, job.Attempt, job.Args.Loses)
}

func (l *Lab) moveStock(ctx context.Context, job *jobs.Job[StockMovement]) error {
	a := job.Args
	found, err := l.tables.move(ctx, a)
	return booked(found, err, a.Book, job.Attempt, a.Loses)
}

// booked ends a run: it may lose its result after the update.
func booked(found bool, err error, book string, attempt, loses int) error {
	switch {
	case err != nil:
		return err
	case !found:
		return jobs.Permanent(fmt.Errorf("book: %q is not in stock", book))
	case attempt <= loses:
		return errResultLost
	}
	return nil
}

// move books a movement once; it is false if there is no such book, and then no
// movement either.
func (t tables) move(ctx context.Context, a StockMovement) (found bool, err error) {
	found, err = t.rowExists(ctx, `select 1 from bookstore.stock where book = $1`, a.Book)
	if err != nil || !found {
		return false, err
	}
	err = t.db.Tx(ctx, func(tx *sqlx.Tx) error {
		r, err := tx.ExecContext(ctx, `insert into bookstore.stock_movements (id, book, change) values ($1, $2, $3) on conflict (id) do nothing`, a.Movement, a.Book, a.Change)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return err // an earlier run booked it
		}
		_, err = tx.ExecContext(ctx, `update bookstore.stock set quantity = quantity + $2 where book = $1`, a.Book, a.Change)
		return err
	})
	return true, err
}

// putStock sets a book's quantity at the start of a scenario.
func (t tables) putStock(ctx context.Context, book string, quantity int) error {
	return t.write(ctx, `insert into bookstore.stock (book, quantity) values ($1, $2)
on conflict (book) do update set quantity = excluded.quantity`, book, quantity)
}

func (t tables) stockOf(ctx context.Context, book string) (n int, err error) {
	err = t.db.GetContext(ctx, &n, `select quantity from bookstore.stock where book = $1`, book)
	return n, err
}
