package store_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// tables counts what lies in a schema.
func tables(t *testing.T, db *store.DB, schema string) (n int) {
	t.Helper()
	err := db.GetContext(t.Context(), &n, `select count(*) from pg_class where relnamespace = to_regnamespace(quote_ident($1)) and relkind in ('r', 'v')`, schema)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTenMigratorsAtOnceAllSucceed_DBX12(t *testing.T) {
	t.Parallel()
	dsn := storetest.EmptyDSN(t)
	errs := make([]error, 10)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range errs {
		db := storetest.Open(t, dsn, store.Options{})
		if err := db.Ping(t.Context()); err != nil { // so that they start together
			t.Fatal(err)
		}
		all.Go(func() { <-start; errs[i] = db.Migrate(t.Context()) })
	}
	close(start)
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, dsn, store.Options{})
	var doubled int
	err := db.GetContext(t.Context(), &doubled, `select count(*) - count(distinct version_id) from tekrar.goose_db_version`)
	if err != nil || doubled != 0 {
		t.Fatalf("%d steps were recorded twice, %v", doubled, err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatalf("once more: %v", err)
	}
}

func TestAnySchemaNameWorksAndPublicStaysEmpty_DBX09_DBX11(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Jobs-2", `a"b`, "o'neil", "a.b", "x; drop table y", "日本", "select", strings.Repeat("x", 63)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{Schema: name})
			if err := db.CheckSchema(t.Context()); err == nil || !strings.Contains(err.Error(), "run `tekrar migrate up`") {
				t.Fatalf("before: %v", err)
			}
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := db.CheckSchema(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := tables(t, db, name); n < 10 {
				t.Fatalf("%d tables in %s", n, name)
			}
			if n := tables(t, db, "public"); n != 0 {
				t.Fatalf("%d tables in public", n)
			}
			if _, err := db.Counts(t.Context()); err != nil {
				t.Fatalf("a read in that schema: %v", err)
			}
		})
	}
}

func TestTwoSchemasOfOneDatabaseAreMigratedApart(t *testing.T) {
	t.Parallel()
	dsn := storetest.EmptyDSN(t)
	for _, name := range []string{"one", "two"} {
		db := storetest.Open(t, dsn, store.Options{Schema: name})
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := tables(t, db, name); n < 10 {
			t.Fatalf("%d tables in %s", n, name)
		}
	}
}

func TestARoleWithoutCreateUsesTheSchemaMadeForIt_DBX09(t *testing.T) {
	t.Parallel()
	dsn := storetest.EmptyDSN(t)
	admin := storetest.Open(t, dsn, store.Options{})
	const role = "tekrar_test_role_without_create"
	err := admin.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`revoke all on schema public from public; create role ` + role + ` login; create schema jobs authorization ` + role)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.Tx(context.Background(), func(tx *sqlx.Tx) error {
			_, err := tx.Exec(`drop owned by ` + role + ` cascade; drop role ` + role)
			return err
		})
	})
	db := storetest.Open(t, dsn+" user="+role, store.Options{Schema: "jobs"})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := storetest.Open(t, dsn+" user="+role, store.Options{Schema: "not_mine"})
	if err := other.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "create schema") {
		t.Fatalf("without the right to create: %v", err)
	}
}

func TestANewerSchemaIsLeftAlone(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	err := db.Tx(t.Context(), func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`insert into tekrar.goose_db_version (version_id, is_applied) values (99999, true)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"CheckSchema": db.CheckSchema(t.Context()), "Migrate": db.Migrate(t.Context())} {
		if !errors.Is(err, store.ErrSchemaTooNew) || !strings.Contains(err.Error(), "99999") {
			t.Errorf("%s: %v", name, err)
		}
	}
	steps, err := db.MigrateStatus(t.Context())
	if err != nil || steps[len(steps)-1].Version != 99999 || steps[len(steps)-1].AppliedAt == nil {
		t.Fatalf("%+v, %v", steps, err)
	}
}

func TestMigrateStatusReadsOnlyAndTellsTheTime(t *testing.T) {
	t.Parallel()
	// A far zone shows whether goose's times without zone are read as written.
	db := storetest.Open(t, storetest.EmptyDSN(t)+" timezone=Asia/Tokyo", store.Options{})
	steps, err := db.MigrateStatus(t.Context())
	if err != nil || len(steps) == 0 || steps[0].AppliedAt != nil || steps[0].Name != "00001_schema" {
		t.Fatalf("%+v, %v", steps, err)
	}
	if n := tables(t, db, "tekrar"); n != 0 {
		t.Fatal("a status made tables")
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps, err = db.MigrateStatus(t.Context())
	if err != nil || steps[0].AppliedAt == nil || time.Since(*steps[0].AppliedAt).Abs() > 10*time.Minute {
		t.Fatalf("%+v, %v", steps[0].AppliedAt, err)
	}
}

func TestMigratePrintIsWhatMigrateDoes(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t), store.Options{Schema: `a"b`})
	var text bytes.Buffer
	if err := db.MigratePrint(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`create schema if not exists "a""b";`, `set search_path = "a""b";`, "create table jobs"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(t.Context(), text.String())
	conn.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestMigrateIgnoresTheStatementTimeout(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.EmptyDSN(t)+" statement_timeout=900ms", store.Options{})
	// The checks before run on the general pool and may be cut off: only the migration counts here.
	pool, err := store.MigrationPool(db)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var timeout, seqscan string
	err = pool.QueryRow(`select current_setting('statement_timeout'), current_setting('enable_seqscan')`).Scan(&timeout, &seqscan)
	if err != nil || timeout != "0" || seqscan != "on" {
		t.Fatalf("statement_timeout %q, enable_seqscan %q, %v", timeout, seqscan, err)
	}
}
