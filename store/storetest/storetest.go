// Package storetest gives each test a migrated database of its own.
//
// A package's tests say so once:
//
//	func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }
//
// The first test that asks starts one private throw-away server for the test
// process. TEKRAR_TEST_DATABASE_URL names a server to use instead; its role
// must be allowed to create databases.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/pgtemp"
)

// shared is the server of this test process. It is process-wide because
// TestMain is the only place that sees the end of all tests.
var shared struct {
	once     sync.Once
	err      error
	server   *pgtemp.Server // nil when TEKRAR_TEST_DATABASE_URL names another
	base     string         // address of the maintenance database
	admin    *sql.DB        // creates and drops the databases
	template string
	copy     string // clause of "create database" that copies the template
	shape    string // the answer of the template to shapeQuery
}

// Run runs the package's tests and stops the server if one was started.
func Run(m *testing.M) int {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
		return max(code, 1)
	}
	return code
}

// Server is the private server of this test process, nil when
// TEKRAR_TEST_DATABASE_URL is set. Tests must not stop it: see NewServer.
func Server(t testing.TB) *pgtemp.Server {
	t.Helper()
	ensure(t)
	return shared.server
}

// NewServer starts a server for this test alone, which it may Halt, Crash and
// Restart: the data is kept until the test ends. settings may be nil.
func NewServer(t testing.TB, settings map[string]string) *pgtemp.Server {
	t.Helper()
	s, err := pgtemp.Start(t.Context(), pgtemp.Config{Logger: quiet(), Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ensure(t testing.TB) {
	t.Helper()
	shared.once.Do(func() { shared.err = start() })
	if shared.err != nil {
		t.Fatalf("storetest: %v", shared.err)
	}
}

func start() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	shared.base = os.Getenv("TEKRAR_TEST_DATABASE_URL")
	if shared.base == "" {
		s, err := pgtemp.Start(ctx, pgtemp.Config{
			Logger: quiet(),
			// With hundreds of databases a vacuum worker would begin several times a second,
			// and tests that need statistics ask for them.
			Settings: map[string]string{
				"max_connections": "300", "autovacuum_naptime": "1d",
				"wal_level": "minimal", "max_wal_senders": "0", "checkpoint_timeout": "1h", "max_wal_size": "4GB",
			},
		})
		if err != nil {
			return err
		}
		shared.server, shared.base = s, s.DSN("")
	}
	c, err := pq.NewConnector(shared.base)
	if err != nil {
		return errors.New("TEKRAR_TEST_DATABASE_URL is not a connection string")
	}
	shared.admin = sql.OpenDB(c)
	shared.admin.SetMaxOpenConns(4)
	shared.admin.SetMaxIdleConns(4)
	return buildTemplate(ctx)
}

// buildTemplate migrates the one database that all others are copied from.
func buildTemplate(ctx context.Context) error {
	name := newName("template")
	if err := execOnce(ctx, shared.admin, "create database "+pq.QuoteIdentifier(name)); err != nil {
		return fmt.Errorf("create template: %w", err)
	}
	shared.template = name
	var version int
	if err := shared.admin.QueryRowContext(ctx, `select current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return err
	}
	shared.copy = " template " + pq.QuoteIdentifier(name)
	if version >= 150000 {
		// Postgres 15 began to copy through the log by default, which takes
		// twice as long for a database of this size (170 instead of 100 ms).
		shared.copy += " strategy file_copy"
	}
	db, err := store.Open(withDatabase(shared.base, name), store.Options{Logger: quiet()})
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	err = db.GetContext(ctx, &shared.shape, shapeQuery)
	// Postgres copies only a database that nobody is connected to.
	return errors.Join(err, db.Close())
}

func stop() error {
	if shared.admin == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if shared.server != nil {
		return errors.Join(shared.admin.Close(), shared.server.Stop(ctx))
	}
	err := execOnce(ctx, shared.admin, "drop database if exists "+pq.QuoteIdentifier(shared.template)+" with (force)")
	return errors.Join(err, shared.admin.Close())
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
