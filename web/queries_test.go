package web_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
	"github.com/tekrar/tekrar/web"
)

var bracket = regexp.MustCompile(`(?i)^(begin|commit|rollback)`)

// mostQueries is the budget of one page, whatever it shows.
const mostQueries = 8

// SCL-10: no page asks more the more it shows.
func TestPagesAskFewQueries(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}, client: jobs.Config{Workers: 4}})
	for i := range 30 {
		x.enqueue(note{Text: fmt.Sprintf("fine %d", i)})
	}
	x.work()
	var failed int64
	for i := range 30 {
		failed = x.failed(fmt.Sprintf("bad %d", i))
	}
	counted, asked := x.counting()
	for _, path := range []string{
		"/", "/jobs?state=failed", "/jobs?state=succeeded", "/jobs?state=enqueued", "/jobs?state=scheduled",
		fmt.Sprintf("/jobs/%d", failed), "/failures", "/attempts", "/queues", "/queues/default", "/recurring", "/servers",
		"/claims", "/calls", "/audit",
	} {
		counted.get(path).wants(t, 200) // connections are opened and set up here
		before := asked.Load()
		counted.get(path)
		if n := asked.Load() - before; n > mostQueries || n == 0 {
			t.Errorf("%s asked %d queries, at most %d are allowed", path, n, mostQueries)
		}
	}
}

// counting serves the same database through a wire that counts requests.
// Its client runs nothing, so all requests are those of pages.
func (x *site) counting() (*site, *atomic.Int64) {
	x.t.Helper()
	t, db := x.t, x.db
	server := storetest.Server(t)
	if server == nil {
		t.Skip("needs a private server; TEKRAR_TEST_DATABASE_URL is set")
	}
	asked := &atomic.Int64{}
	through, err := store.Open(wire(t, db.DSN(), asked), store.Options{Schema: db.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { through.Close() })
	client, err := jobs.New(through, jobs.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	served, err := web.Listen("127.0.0.1:0", "", client, web.Options{Access: web.None()})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- served.Serve() }()
	t.Cleanup(func() {
		if err := served.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return &site{t: t, db: through, client: client, host: served.Addr(), http: x.http}, asked
}

// wire forwards connections to the server of dsn and counts what clients ask.
func wire(t testing.TB, dsn string, asked *atomic.Int64) string {
	t.Helper()
	_, after, _ := strings.Cut(dsn, "host='")
	target, _, _ := strings.Cut(after, "'")
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("unix", filepath.Join(target, ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			conns.Go(func() { defer client.Close(); _, _ = io.Copy(client, upstream) })
			conns.Go(func() { defer upstream.Close(); forward(upstream, client, asked) })
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait(); os.RemoveAll(dir) })
	return strings.Replace(dsn, target, dir, 1)
}

// forward counts simple queries (Q) and executions of prepared ones (E) of the
// protocol, but not the brackets of a transaction, which read nothing: one type
// byte, four bytes of length with themselves, the content. The first message has
// no type.
func forward(server io.Writer, client io.Reader, asked *atomic.Int64) {
	head := make([]byte, 5)
	for first := true; ; first = false {
		used := head
		if first {
			used = head[1:]
		}
		if _, err := io.ReadFull(client, used); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if !first && (head[0] == 'Q' && !bracket.Match(body) || head[0] == 'E') {
			asked.Add(1)
		}
		if _, err := server.Write(append(used[:len(used):len(used)], body...)); err != nil {
			return
		}
	}
}
