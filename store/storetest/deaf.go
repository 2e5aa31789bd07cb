package storetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"os"
	"testing"

	"github.com/tekrar/tekrar/store"
)

// NoListen is the variable that makes the server of the tests refuse LISTEN, as
// servers do that speak Postgres and have no notifications: everything then has to
// work by polling.
const NoListen = "TEKRAR_TEST_NO_LISTEN"

// NeedsListen skips a test of notifications where there are none.
func NeedsListen(t testing.TB) {
	t.Helper()
	if os.Getenv(NoListen) != "" {
		t.Skip(NoListen + " is set")
	}
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// deafened makes the connections of dial refuse LISTEN if NoListen is set.
func deafened(dial dialFunc) dialFunc {
	if os.Getenv(NoListen) == "" {
		return dial
	}
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &deaf{Conn: c}, err
	}
}

// Options are those of a database that a process opens which a test has started.
func Options() store.Options { return store.Options{Dial: deafened(nil)} }

// deaf is a connection on which LISTEN is refused as Postgres refuses what a server
// does not support.
type deaf struct{ net.Conn }

// refusal is the simple query that is sent instead.
var refusal = func() []byte {
	text := `do $$ begin raise exception 'LISTEN is not supported' using errcode = 'feature_not_supported'; end $$` + "\x00"
	return append(binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(4+len(text))), text...)
}()

// Write implements net.Conn. lib/pq writes whole messages.
func (d *deaf) Write(p []byte) (int, error) {
	if len(p) < 5 || p[0] != 'Q' || !bytes.HasPrefix(bytes.ToLower(p[5:]), []byte("listen ")) {
		return d.Conn.Write(p)
	}
	if _, err := d.Conn.Write(refusal); err != nil {
		return 0, err
	}
	return len(p), nil
}
