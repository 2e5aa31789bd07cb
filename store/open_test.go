package store_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestOpenRefusesBadSchemaNames_DBX11(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		strings.Repeat("x", 64): "schema: 64 bytes; at most 63",
		strings.Repeat("ä", 32): "schema: 64 bytes; at most 63",
		"a\x00b":                "schema: \"a\\x00b\" holds a NUL byte",
		"a\xffb":                "schema: \"a\\xffb\" is not valid UTF-8",
		"pg_jobs":               "schema: \"pg_jobs\" is reserved",
		"information_schema":    "schema: \"information_schema\" is reserved",
	} {
		_, err := store.Open("postgres://localhost/x", store.Options{Schema: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schema %q: %v; want %q", name, err, want)
		}
	}
}

func TestOpenRefusesBadAddressesWithoutShowingThePassword(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"":                                      "database address is empty: set DATABASE_URL",
		"  ":                                    "database address is empty",
		"postgres://u:s3cret#x@host/db":         "percent-encode",
		"postgres://u:s3cret%zz@host/db":        "percent-encode",
		"mysql://u:s3cret@host/db":              "postgres://user:password@host",
		"user=u password=s3cret s3cret2":        "key=value pairs",
		"postgres://u:s3cret@h/d?sslmode=maybe": `"sslmode"`,
		"host=h port=99999999 password=s3cret":  "database address",
	} {
		_, err := store.Open(dsn, store.Options{})
		switch {
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v; want %q", dsn, err, want)
		case strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%q: the password is in %v", dsn, err)
		}
	}
}

func TestConnectionsCarryTheEngineSettings(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	for name, want := range map[string]string{
		"plan_cache_mode": "force_generic_plan", "jit": "off", "enable_seqscan": "off",
		"enable_hashjoin": "off", "enable_mergejoin": "off", "enable_bitmapscan": "off",
		"statement_timeout": "30s", "application_name": "tekrar", "default_transaction_isolation": "read committed",
	} {
		var got string
		if err := db.GetContext(t.Context(), &got, `select current_setting($1)`, name); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestTheAddressWinsOverOurSettings(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t) + " statement_timeout=7s application_name=mine"
	db := storetest.Open(t, dsn, store.Options{})
	var got string
	err := db.GetContext(t.Context(), &got, `select current_setting('statement_timeout') || ' ' || current_setting('application_name')`)
	if err != nil || got != "7s mine" {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestRefusedSettingsWarnOnceAndGoOn(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	db := storetest.Open(t, storetest.DSN(t), store.Options{Logger: logger})
	store.RefuseSettings(db)
	a, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if n := strings.Count(log.String(), "settings refused"); n != 1 {
		t.Fatalf("%d warnings, want 1:\n%s", n, log.String())
	}
}

func TestASilentNetworkEndsAQuery(t *testing.T) {
	t.Parallel()
	p := newProxy(t, "")
	db := storetest.Open(t, p.dsn(storetest.DSN(t)), store.Options{ReadTimeout: 300 * time.Millisecond})
	var conn *sqlx.Conn
	var err error
	until(t, "connected, on a busy machine too", func() bool { conn, err = db.Connx(t.Context()); return err == nil })
	defer conn.Close()
	p.silent.Store(true)
	began := time.Now()
	var one int
	err = conn.GetContext(t.Context(), &one, `select 1`)
	if !store.IsRetryable(err) {
		t.Fatalf("err = %v; want a retryable one", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Fatalf("took %s; the read deadline is 300 ms", took)
	}
}

func TestASilentServerEndsTheConnect(t *testing.T) {
	t.Parallel()
	p := newProxy(t, "")
	p.silent.Store(true)
	db := storetest.Open(t, p.dsn(storetest.DSN(t))+" connect_timeout=1", store.Options{})
	err := db.Ping(t.Context())
	if err == nil || !strings.Contains(err.Error(), "did not answer in time (connect_timeout 1s)") {
		t.Fatal(err)
	}
}

func TestListenerUsesOurDialerAndHears(t *testing.T) {
	storetest.NeedsListen(t)
	t.Parallel()
	db := storetest.New(t)
	l := db.Listener(10*time.Millisecond, time.Second, nil)
	defer l.Close()
	if err := l.Listen("c"); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, db, `select pg_notify('c', 'hello')`)
	for {
		select {
		case n := <-l.Notify:
			if n == nil {
				continue
			}
			if n.Extra != "hello" {
				t.Fatal(n.Extra)
			}
			return
		case <-time.After(20 * time.Second):
			t.Fatal("nothing heard")
		}
	}
}

func TestCloseClosesEveryPool(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	if err := db.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Ping(t.Context()); err == nil || fmt.Sprint(err) != "sql: database is closed" {
		t.Fatal(err)
	}
}
