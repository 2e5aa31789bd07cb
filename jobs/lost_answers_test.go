package jobs_test

import (
	"context"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

// cutter stands between an engine and Postgres. While it cuts, one answer in
// twenty is lost and its connection ends: what was asked has been done, and
// nobody was told.
type cutter struct {
	net.Listener
	socket string
	cuts   atomic.Bool
	lost   atomic.Int64
	open   sync.WaitGroup
}

func newCutter(t *testing.T, socket string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, socket: socket}
	c.open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			c.open.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() { l.Close(); c.open.Wait() })
	return c
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", c.socket)
	if err != nil {
		return
	}
	defer server.Close()
	c.open.Go(func() { // what is asked goes through
		defer server.Close()
		copyUntil(server, client, func() bool { return false })
	})
	copyUntil(client, server, func() bool {
		if c.cuts.Load() && rand.IntN(20) == 0 {
			c.lost.Add(1)
			return true
		}
		return false
	})
}

func copyUntil(to, from net.Conn, cut func() bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil || cut() {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// Answers of claims and settles are lost all the time. The claim's jobs are found
// and run, the settle's outcome is asked for: each job runs once, at attempt 1.
func TestLostAnswersNeitherLoseNorDoubleJobs(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	if server == nil {
		t.Skip("needs the socket of a server of its own")
	}
	db := storetest.New(t)
	_, socket, _ := strings.Cut(server.DSN(""), "host='")
	socket, _, _ = strings.Cut(socket, "'")
	cut := newCutter(t, filepath.Join(socket, ".s.PGSQL.5432"))
	through, err := store.Open(server.DSN(ask[string](t, db, `select current_database()`))+
		" host=127.0.0.1 sslmode=disable port="+strconv.Itoa(cut.Addr().(*net.TCPAddr).Port), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { through.Close() })

	cfg := quickly()
	cfg.Lease = time.Minute // no reclaim helps: the engine has to find its jobs
	var runs [3000]atomic.Int32
	r := startOn(t, through, cfg, on(func(_ context.Context, j *jobs.Job[task]) error {
		runs[j.Args.N].Add(1)
		return nil
	}))
	defer r.stop()
	healthy := newClient(t, db, cfg)
	first, err := healthy.Enqueue(t.Context(), task{N: len(runs) - 1})
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(first.ID, store.Succeeded) // a start does not try again
	cut.cuts.Store(true)
	n := 0
	for ; cut.lost.Load() < 20 && n < len(runs); n += 10 {
		if _, err := healthy.EnqueueMany(t.Context(), tasks(len(runs))[n:n+10]); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all have succeeded", func() bool {
			return ask[int](t, db, `select count(*) from tekrar.history where state = 4`) == 1+n+10
		})
	}
	cut.cuts.Store(false)
	r.stop()
	for i := range n {
		if got := runs[i].Load(); got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	same(t, 0, ask[int](t, db, `select count(*) from tekrar.history where attempt > 1 or state = 7`))
	check(t, db)
}
