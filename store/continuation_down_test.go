package store_test

import (
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/tekrar/tekrar/migrations"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// An older program knows nobody who waits: those jobs are deleted, and restorable.
func TestDownDeletesWhoAwaits(t *testing.T) {
	t.Parallel()
	e := newEngine(t, storetest.New(t))
	child := e.after(e.enqueue(store.NewJob{})[0], store.OnSuccess)
	pool, err := store.MigrationPool(e.db)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.FS, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DownTo(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	var state, reason string
	if err := pool.QueryRow(`select state, reason from job where id = $1`, child.ID).Scan(&state, &reason); err != nil || state != "deleted" {
		t.Error(state, reason, err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.check()
	if m, err := e.db.Restore(e.ctx, "ann", []store.Target{{ID: child.ID, Expected: store.Deleted}}); err != nil || m[0].Err != nil {
		t.Error(m, err)
	}
	e.check()
}
