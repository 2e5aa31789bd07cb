//lint:file-ignore ST1005 Postgres and TLS are names

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lib/pq"
)

// explain says in words what keeps a connection from opening and what to do.
// The cause stays in the chain, for IsRetryable.
func explain(err error, cfg pq.Config) error {
	at := hosts(cfg)
	if errors.Is(err, context.Canceled) {
		return err
	}
	// lib/pq has no error of its own for this.
	if text := err.Error(); strings.Contains(text, "session is read-only") || strings.Contains(text, "server is in hot standby mode") {
		return fmt.Errorf("%w: %s (target_session_attrs=%s): %w", ErrNoPrimary, at, cfg.TargetSessionAttrs, err)
	}
	if pe, ok := errors.AsType[*pq.Error](err); ok {
		switch {
		case pe.Code == "3D000":
			return fmt.Errorf("database %q does not exist on %s: create it, or correct the name in the database address: %w", cfg.Database, at, err)
		case pe.Code.Class() == "28":
			return fmt.Errorf("Postgres on %s refused user %q: check user and password in the database address: %w", at, cfg.User, err)
		case pe.Code == "53300":
			return fmt.Errorf("Postgres on %s has no free connection slot (max_connections): %w", at, err)
		case pe.Code == "57P03":
			return fmt.Errorf("Postgres on %s is starting up or shutting down: %w", at, err)
		}
		return fmt.Errorf("connect to Postgres on %s: %w", at, err)
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, pq.ErrSSLNotSupported):
		return fmt.Errorf("Postgres on %s does not speak TLS: add sslmode=disable to the database address if the network is trusted: %w", at, err)
	case isDNS:
		return fmt.Errorf("host %q in the database address is not known: %w", dns.Name, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens on %s: is Postgres running, and is the database address right? %w", at, err)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("there is no socket %s: is Postgres running, and is the database address right? %w", at, err)
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("Postgres on %s did not answer in time (connect_timeout %s): %w", at, cfg.ConnectTimeout, err)
	case strings.Contains(err.Error(), "x509: ") || strings.Contains(err.Error(), "tls: "):
		return fmt.Errorf("TLS with Postgres on %s failed: check sslmode and sslrootcert in the database address: %w", at, err)
	}
	return fmt.Errorf("connect to Postgres on %s: %w", at, err)
}

// hosts names where cfg points to, the way a person would type it.
func hosts(cfg pq.Config) string {
	one := func(host string, addr string, port uint16) string {
		p := strconv.Itoa(int(port))
		switch {
		case addr != "" && addr != "invalid IP":
			return net.JoinHostPort(addr, p)
		case filepath.IsAbs(host) || strings.HasPrefix(host, "@"):
			return filepath.Join(host, ".s.PGSQL."+p)
		}
		return net.JoinHostPort(host, p)
	}
	all := []string{one(cfg.Host, cfg.Hostaddr.String(), cfg.Port)}
	for _, m := range cfg.Multi {
		all = append(all, one(m.Host, m.Hostaddr.String(), m.Port))
	}
	return strings.Join(all, ", ")
}

// IsRetryable reports whether err came from the connection, a server that
// restarts, is full or takes no writes now, or a conflict between transactions, so
// that the same work may succeed when tried again. Only a whole transaction that does no
// harm when it runs twice may be tried again: its first run may have been
// committed (see ErrUnknownOutcome). A cancelled or overdue context is not
// retryable; check it first, since a statement it cancelled ends with 57014.
func IsRetryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if IsReadOnly(err) || errors.Is(err, ErrNoPrimary) {
		return true
	}
	if pe, ok := errors.AsType[*pq.Error](err); ok {
		switch pe.Code {
		case "57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01", "55P03", "25P03":
			return true
		}
		return pe.Code.Class() == "08"
	}
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return false
	}
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
