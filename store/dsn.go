package store

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lib/pq"
)

const connectTimeout = 10 * time.Second

var errDSN = errors.New("not a connection string: use postgres://user:password@host:port/database " +
	"(percent-encode special characters of the password) or key=value pairs (values with blanks in single quotes)")

// parseDSN never repeats the text it was given: it holds a password.
func parseDSN(dsn string) (pq.Config, error) {
	if strings.TrimSpace(dsn) == "" {
		// lib/pq would silently take localhost: the usual cause is a variable that is not set.
		return pq.Config{}, errors.New("database address is empty: set DATABASE_URL to postgres://user:password@host:port/database")
	}
	cfg, err := pq.NewConfig(dsn)
	if err != nil {
		if msg := err.Error(); strings.HasPrefix(msg, "pq: ") && strings.Contains(msg, "supported") && !strings.Contains(msg, "parse") {
			return pq.Config{}, fmt.Errorf("database address: %s", strings.TrimPrefix(msg, "pq: "))
		}
		return pq.Config{}, fmt.Errorf("database address (DATABASE_URL): %w", errDSN)
	}
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	if cfg.ApplicationName == "" {
		cfg.ApplicationName = "tekrar"
	}
	return cfg, nil
}

// withConnectTimeout adds to dsn what parseDSN put into cfg, for the listener,
// which lib/pq opens from a text only.
func withConnectTimeout(dsn string, cfg pq.Config) string {
	secs := fmt.Sprint(max(1, int(cfg.ConnectTimeout/time.Second)))
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		u, err := url.Parse(dsn)
		if err != nil {
			return dsn
		}
		q := u.Query()
		q.Set("connect_timeout", secs)
		q.Set("application_name", cfg.ApplicationName)
		u.RawQuery = q.Encode()
		return u.String()
	}
	return dsn + " connect_timeout=" + secs + " application_name='" +
		strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(cfg.ApplicationName) + "'"
}

// checkSchemaName takes any name Postgres would keep unchanged when quoted.
func checkSchemaName(name string) error {
	switch {
	case name == "":
		return errors.New("schema: empty; 1 to 63 bytes are needed")
	case len(name) > 63:
		return fmt.Errorf("schema: %d bytes; at most 63 are allowed", len(name))
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("schema: %q holds a NUL byte", name)
	case strings.ToValidUTF8(name, "") != name:
		return fmt.Errorf("schema: %q is not valid UTF-8", name)
	case strings.HasPrefix(name, "pg_") || name == "information_schema":
		return fmt.Errorf("schema: %q is reserved by Postgres", name)
	}
	return nil
}
