package store_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"time"

	"github.com/tekrar/tekrar/migrations"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// A migration meets a transaction that stays open on a table of ours, as a user's with
// an enqueue in it does. It waits its turn, and nobody waits behind it for long.
func TestAMigrationKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{Logger: slog.New(slog.DiscardHandler)})
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	const old = 5 // the sixth alters jobs
	migratedTo(t, db, old)
	users, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer users.Rollback()
	if _, err := users.Exec(`insert into tekrar.jobs (queue, kind, args) values ('q', 'k', '{}')`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- db.Migrate(t.Context()) }()
	var longest time.Duration
	for range 2 { // twice in a row: it has let go and come again
		for blocked := false; !blocked; {
			if err := db.Get(&blocked, `select exists (select from pg_locks l join pg_class c on c.oid = l.relation
				where c.relname = 'jobs' and l.mode = 'AccessExclusiveLock' and not l.granted
					and l.database = (select oid from pg_database where datname = current_database()))`); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				t.Fatalf("it did not wait: %v", err)
			default:
			}
		}
		began := time.Now()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(`insert into tekrar.jobs (queue, kind, args) values ('q', 'k', '{}')`); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(began))
	}
	if longest > 10*time.Second {
		t.Errorf("an enqueue waited %v behind the migration", longest)
	}
	if err := users.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if steps, err := db.MigrateStatus(t.Context()); err != nil || steps[len(files)-1].AppliedAt == nil {
		t.Fatal(fmt.Sprint(steps), err)
	}
}
