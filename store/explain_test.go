package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestConnectErrorsSayWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := closed.Addr().String()
	closed.Close()
	plain := plainServer(t, "N")
	base := storetest.DSN(t)
	cases := map[string][]string{
		"postgres://u:s3cret@" + addr + "/db":                  {"nothing listens on " + addr, "is Postgres running"},
		"postgres://u:s3cret@" + plain + "/db":                 {"does not speak TLS", "sslmode=disable", plain},
		base + " dbname=missing":                               {`database "missing" does not exist`, "create it"},
		base + " user=stranger":                                {`refused user "stranger"`, "check user and password"},
		"host=/nowhere user=u password=s3cret sslmode=disable": {"there is no socket /nowhere/.s.PGSQL.5432"},
		"postgres://u:s3cret@no-such-host.invalid/db":          {"no-such-host.invalid"},
	}
	for dsn, wants := range cases {
		err := storetest.Open(t, dsn, store.Options{}).Ping(t.Context())
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", dsn, err, want)
			}
		}
		if strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("the password is in %v", err)
		}
	}
}

// plainServer answers every request for TLS with one letter, as Postgres without TLS does.
func plainServer(t *testing.T, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.ReadFull(c, make([]byte, 8))
			io.WriteString(c, answer)
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestIsRetryable(t *testing.T) {
	t.Parallel()
	code := func(c string) error { return fmt.Errorf("claim: %w", &pq.Error{Code: pqerror.Code(c)}) }
	yes := []error{
		driver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded,
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, syscall.ECONNRESET, syscall.EPIPE,
		code("57P01"), code("57P02"), code("57P03"), code("08006"), code("08P01"), code("53300"),
		code("40001"), code("40P01"), code("55P03"), code("57P05"), code("25006"),
		fmt.Errorf("begin: %w", store.ErrNoPrimary),
	}
	no := []error{
		nil, errors.New("other"), context.Canceled, context.DeadlineExceeded,
		fmt.Errorf("x: %w", context.DeadlineExceeded), pq.ErrSSLNotSupported, store.ErrStateChanged,
		code("57014"), code("23505"), code("42P01"), code("3D000"), code("28P01"), code("22021"),
	}
	for _, err := range yes {
		if !store.IsRetryable(err) {
			t.Errorf("%v is retryable", err)
		}
	}
	for _, err := range no {
		if store.IsRetryable(err) {
			t.Errorf("%v is not retryable", err)
		}
	}
}
