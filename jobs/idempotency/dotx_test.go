package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/jobs/idempotency"
	"github.com/tekrar/tekrar/store"
)

// ledger is a table of the user's.
func (b *bench) ledger() {
	b.exec(`create table public.ledger (id bigint generated always as identity, note text)`)
	b.exec(`create table public.invoices (number text primary key, amount integer not null)`)
}

func (b *bench) booked() int { b.Helper(); return ask[int](b, `select count(*) from public.ledger`) }

func book(ctx context.Context, tx jobs.Querier) idempotency.EffectTx {
	return func(context.Context, *idempotency.Claim) (any, error) {
		_, err := tx.ExecContext(ctx, `insert into public.ledger (note) values ('stock -1')`)
		return "booked", err
	}
}

// inTx runs fn in a transaction of a pool of the test's own, as a user would.
func (b *bench) inTx(ctx context.Context, fn func(*sqlx.Tx) error) error {
	tx, err := b.db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func TestDoTxCommitsClaimEffectAndJobTogether(t *testing.T) {
	b := setup(t)
	b.ledger()
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		err := b.inTx(ctx, func(tx *sqlx.Tx) error {
			_, err := b.DoTx(ctx, tx, idempotency.NewKey("stock", j.Args.Invoice), book(ctx, tx))
			if err == nil && j.Attempt == 1 {
				return errors.New("rolled back after all")
			}
			return err
		})
		if j.Attempt == 2 && err == nil {
			// The commit is the end of the job: what goes wrong after it cannot undo it.
			return errors.New("after the commit")
		}
		return err
	}))
	id := b.enqueue(c, send{1})
	d := b.waitFor(id, store.Succeeded)
	b.same(2, d.Attempt)
	b.same(1, b.booked())
	b.same("done", b.state(idempotency.NewKey("stock", 1)))
	for _, h := range d.History {
		if h.State == store.Late {
			t.Errorf("a late row: %q", h.Reason)
		}
	}
	// A second job for the same thing finds it done, and completes.
	b.waitFor(b.enqueue(c, send{1}), store.Succeeded)
	b.same(1, b.booked())
}

// Two at once: one waits for the other's end and then finds it done.
func TestDoTxTwoAtOnceBookOnce(t *testing.T) {
	b := setup(t)
	b.ledger()
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			errs[i] = b.inTx(b.ctx, func(tx *sqlx.Tx) error {
				_, err := b.DoTx(b.ctx, tx, mail, book(b.ctx, tx))
				return err
			})
		})
	}
	all.Wait()
	b.ok(errors.Join(errs...))
	b.same(1, b.booked())
}

// A job that was taken meanwhile cannot complete, so its effect is rolled back.
func TestDoTxOfATakenJobRollsBack(t *testing.T) {
	b := setup(t)
	b.ledger()
	running, taken, said := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	c := b.engine(on(func(ctx context.Context, j *jobs.Job[send]) error {
		ctx = context.WithoutCancel(ctx)
		err := b.inTx(ctx, func(tx *sqlx.Tx) error {
			_, err := b.DoTx(ctx, tx, mail, func(ctx context.Context, c *idempotency.Claim) (any, error) {
				close(running)
				<-taken
				return book(ctx, tx)(ctx, c)
			})
			return err
		})
		said <- err
		return err
	}))
	id := b.enqueue(c, send{1})
	<-running
	_, err := c.Delete(b.ctx, "Ada", jobs.Target{ID: id, Expected: store.Processing})
	b.ok(err)
	close(taken)
	if err := <-said; !errors.Is(err, jobs.ErrLeaseLost) || !errors.Is(err, idempotency.ErrClaimLost) {
		t.Errorf("%v, want ErrLeaseLost and ErrClaimLost", err)
	}
	b.same(0, b.booked())
	b.same(0, ask[int](b, `select count(*) from tekrar.effect_claims`))
}

func TestDoTxNeedsAReadCommittedTransaction(t *testing.T) {
	b := setup(t)
	_, err := b.DoTx(b.ctx, b.db, mail, nil)
	var input *idempotency.InputError
	if !errors.As(err, &input) {
		t.Errorf("on a pool: %v, want an InputError", err)
	}
	tx, err := b.db.BeginTxx(b.ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	b.ok(err)
	defer tx.Rollback()
	if _, err = b.DoTx(b.ctx, tx, mail, book(b.ctx, tx)); err == nil || !strings.Contains(err.Error(), "read committed") {
		t.Errorf("serializable: %v, want an error that names read committed", err)
	}
}

// A claim made in a transaction is there for others once it commits, and its
// marks go on outside.
func TestClaimInATransaction(t *testing.T) {
	b := setup(t)
	var c *idempotency.Claim
	b.ok(b.inTx(b.ctx, func(tx *sqlx.Tx) error {
		out, err := b.Claim(b.ctx, tx, mail)
		c = out.Claim
		return err
	}))
	c = c.On(nil)
	b.ok(c.Begin(b.ctx))
	b.ok(c.Done(b.ctx, nil))

	conn, err := b.db.Conn(b.ctx)
	b.ok(err)
	defer conn.Close()
	pool := sqlx.NewDb(b.db.DB.DB, "postgres")
	for _, q := range []jobs.Querier{conn, pool, pool.DB, b.db} {
		out, err := b.Claim(b.ctx, q, mail)
		b.ok(err)
		b.same(idempotency.Done, out.Result)
	}
	// The transaction is not dead after a refused claim.
	b.ok(b.inTx(b.ctx, func(tx *sqlx.Tx) error {
		out, err := b.Claim(b.ctx, tx, mail)
		b.same(idempotency.Done, out.Result)
		b.same(1, ask[int](b, `select 1`))
		_, err2 := tx.ExecContext(b.ctx, `select 1`)
		return errors.Join(err, err2)
	}))
}

func TestReserveWithTheBusinessRow(t *testing.T) {
	b := setup(t)
	reserve := func(commit bool) (r idempotency.Reserved) {
		err := b.inTx(b.ctx, func(tx *sqlx.Tx) (err error) {
			if r, err = b.Reserve(b.ctx, tx, mail); err == nil && !commit {
				err = sql.ErrTxDone
			}
			return err
		})
		b.same(!commit, err != nil)
		return r
	}
	b.same(true, reserve(false).Fresh)
	b.same(true, reserve(true).Fresh)
	second := reserve(true)
	b.same(false, second.Fresh)
	b.same(idempotency.Busy, second.Found.Result)
	var p post
	_, err := b.Do(b.ctx, mail, p.send)
	b.ok(err)
	b.same(idempotency.Done, reserve(true).Found.Result)
}

func TestClaimRowInsertsOnce(t *testing.T) {
	b := setup(t)
	b.ledger()
	row := idempotency.Row{Table: "public.invoices", Key: []idempotency.Column{{"number", "INV-1"}}, Other: []idempotency.Column{{"amount", 7}}}
	var fresh, found int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			err := b.inTx(b.ctx, func(tx *sqlx.Tx) error {
				r, err := b.ClaimRow(b.ctx, tx, row)
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if r.Fresh {
					fresh++
				} else if r.Found.Result == idempotency.Done {
					found++
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b.same([2]int{1, 7}, [2]int{fresh, found})
	_, err := b.ClaimRow(b.ctx, b.db, row)
	var input *idempotency.InputError
	if !errors.As(err, &input) {
		t.Errorf("on a pool: %v, want an InputError", err)
	}
}
