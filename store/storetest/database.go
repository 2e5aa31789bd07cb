package storetest

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/tekrar/tekrar/store"
)

// New opens a migrated, empty database of this test's own, and closes it when the
// test ends. Other tests had it before: the order of its pages on disk and what the
// planner knows of it are theirs. A test of plans or sizes takes Fresh.
func New(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, DSN(t), store.Options{})
}

// Fresh is New with a database that nobody had before and nobody gets after.
func Fresh(t testing.TB) *store.DB {
	t.Helper()
	ensure(t)
	return Open(t, create(t, shared.copy), store.Options{})
}

// Open opens dsn and closes it when the test ends. If DSN gave it, the connections may
// come from earlier tests, as new: all settings and locks of the session are gone.
func Open(t testing.TB, dsn string, o store.Options) *store.DB {
	t.Helper()
	if o.Dial == nil && spares.lent(dsn) {
		o.Dial = dialReusing
	}
	o.Dial = deafened(o.Dial)
	db, err := store.Open(dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// DSN is the address of the database that New opens.
func DSN(t testing.TB) string {
	t.Helper()
	ensure(t)
	if shared.server == nil { // a server that stays: nothing is left there
		return create(t, shared.copy)
	}
	dsn := spares.take(t)
	t.Cleanup(func() { // after all that the test opened was closed
		spares.giveBack(dsn, !t.Failed())
	})
	return dsn
}

// Connections counts those to the database of that name. Those that were closed and
// wait for another test are none.
func Connections(t testing.TB, database string) (n int) {
	t.Helper()
	ensure(t)
	err := shared.admin.QueryRowContext(t.Context(), `select count(*) from pg_stat_activity
		where datname = $1 and application_name <> $2`, database, parkedName).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// EmptyDSN is the address of a database of this test's own without any schema.
func EmptyDSN(t testing.TB) string {
	t.Helper()
	ensure(t)
	return create(t, "")
}

// create leaves the database to the end of the private server: the file system
// searches long for new files just after many were removed.
func create(t testing.TB, clause string) string {
	t.Helper()
	name := newName("test")
	Exec(t, shared.admin, "create database "+pq.QuoteIdentifier(name)+clause)
	if shared.server == nil {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			// Forced, since a test that leaks a connection must not fail the next one.
			if err := execOnce(ctx, shared.admin, "drop database if exists "+pq.QuoteIdentifier(name)+" with (force)"); err != nil {
				t.Errorf("storetest: drop database: %v", err)
			}
		})
	}
	return withDatabase(shared.base, name)
}

// newName is unique over processes, which may share a server.
func newName(kind string) string { return "tekrar_" + kind + "_" + strings.ToLower(rand.Text()[:12]) }

// withDatabase points an address to another database of the same server.
func withDatabase(dsn, name string) string {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		if u, err := url.Parse(dsn); err == nil {
			u.Path = "/" + name
			q := u.Query()
			q.Del("dbname")
			u.RawQuery = q.Encode()
			return u.String()
		}
	}
	return dsn + " dbname=" + name
}

// parameter reads one of the key=value pairs that private servers give; the last counts.
func parameter(dsn, key string) (value string) {
	for word := range strings.FieldsSeq(dsn) {
		if k, v, ok := strings.Cut(word, "="); ok && k == key {
			value = strings.Trim(v, "'")
		}
	}
	return value
}
