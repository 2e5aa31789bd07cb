package store_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tekrar/tekrar/store/storetest"
)

// proxy stands between client and server and misbehaves like a network.
type proxy struct {
	dir    string
	cutAt  string      // the reply to a request that holds this text is lost with its connection
	silent atomic.Bool // replies vanish, connections stay open
}

// newProxy serves a socket in a folder of its own; dsn() points to it.
func newProxy(t *testing.T, cutAt string) *proxy {
	t.Helper()
	server := storetest.Server(t)
	if server == nil {
		t.Skip("needs a private server; TEKRAR_TEST_DATABASE_URL is set")
	}
	dir, err := os.MkdirTemp("", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{dir: dir, cutAt: cutAt}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("unix", filepath.Join(socketOf(server.DSN("")), ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			cut := new(atomic.Bool)
			conns.Go(func() { p.toServer(upstream, client, cut) })
			conns.Go(func() { p.toClient(client, upstream, cut) })
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait(); os.RemoveAll(dir) })
	return p
}

func socketOf(dsn string) string {
	_, after, _ := strings.Cut(dsn, "host='")
	host, _, _ := strings.Cut(after, "'")
	return host
}

func (p *proxy) dsn(direct string) string {
	return strings.Replace(direct, socketOf(direct), p.dir, 1)
}

// toServer forwards requests; cut is set once cutAt is seen.
func (p *proxy) toServer(server, client net.Conn, cut *atomic.Bool) {
	defer server.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if p.cutAt != "" && bytes.Contains(buf[:n], []byte(p.cutAt)) {
			cut.Store(true)
		}
		server.Write(buf[:n])
	}
}

func (p *proxy) toClient(client, server net.Conn, cut *atomic.Bool) {
	defer client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil || cut.Load() {
			return // the reply was on its way: the server has done the work
		}
		if !p.silent.Load() {
			client.Write(buf[:n])
		}
	}
}
