package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/cmd/tekrar/bench"
	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// workerProcess is a real worker of this or another build; it ends with its input.
type workerProcess struct {
	stderr *watched
	ended  chan error
	stop   func()
}

func startWorker(t *testing.T, path, dsn, name, journal string) *workerProcess {
	t.Helper()
	cmd := exec.Command(path, bench.ChaosWorkerCommand, name, journal)
	w := &workerProcess{stderr: &watched{}, ended: make(chan error, 1)}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DATABASE_URL=" + dsn}
	cmd.Stderr = w.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { w.ended <- cmd.Wait(); close(over) }()
	w.stop = sync.OnceFunc(func() {
		stdin.Close()
		select {
		case <-over:
		case <-time.After(30 * time.Second):
			t.Errorf("worker %s did not end; it said %s", name, w.stderr)
		}
	})
	t.Cleanup(func() { cmd.Process.Kill(); <-over })
	return w
}

// said counts the lines of a worker's log that hold the text.
func (w *workerProcess) said(text string) int { return strings.Count(w.stderr.String(), text) }

// load enqueues until it is stopped and keeps what was acknowledged.
type load struct {
	client   *jobs.Client
	accepted atomic.Int64
	refused  atomic.Int64
	mu       sync.Mutex
	ids      map[int64]bool
	stop     func()
}

func startLoad(t *testing.T, db *store.DB) *load {
	t.Helper()
	c, err := jobs.New(db, jobs.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{client: c, ids: map[int64]bool{}}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				one, stop := context.WithTimeout(context.Background(), 5*time.Second)
				put, err := c.EnqueueRaw(one, "chaos.plain", json.RawMessage(fmt.Sprintf(`{"n":%d,"ms":%d}`, n, n%20)))
				stop()
				if err != nil {
					l.refused.Add(1)
				} else {
					l.accepted.Add(1)
					l.mu.Lock()
					if l.ids[put.ID] {
						t.Errorf("the id %d was given twice", put.ID)
					}
					l.ids[put.ID] = true
					l.mu.Unlock()
				}
				select { // a steady load, not a benchmark
				case <-ctx.Done():
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	l.stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(l.stop)
	return l
}

// count asks for a number; a database that is away counts -1.
func count(db *store.DB, query string) int {
	n := -1
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if db.GetContext(ctx, &n, query) != nil {
		return -1
	}
	return n
}

const (
	succeeded  = `select count(*) from tekrar.history where state = 4`
	unfinished = `select (select count(*) from tekrar.ready) + (select count(*) from tekrar.running) + (select count(*) from tekrar.scheduled)`
	lost       = `select count(*) from tekrar.servers where lost_at is not null`
	listening  = `select count(*) from tekrar.servers where listening and lost_at is null and stopped_at is null and lease_until > now()`
)

// flows waits until jobs are accepted and run again.
func (l *load) flows(t *testing.T, ctx context.Context, db *store.DB) {
	t.Helper()
	a, s := l.accepted.Load(), -1
	until(t, ctx, "the database answers", func() bool { s = count(db, succeeded); return s >= 0 })
	until(t, ctx, "jobs are accepted and run", func() bool { return l.accepted.Load() > a+50 && count(db, succeeded) > s+50 })
}

// finished stops the load, waits for every job, and judges: whatever was acknowledged
// has succeeded exactly once.
func (l *load) finished(t *testing.T, ctx context.Context, db *store.DB, workers ...*workerProcess) {
	t.Helper()
	l.stop()
	until(t, ctx, "every job has ended", func() bool { return count(db, unfinished) == 0 })
	for _, w := range workers {
		w.stop()
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("the checker found: %v", err)
	}
	var rows []struct {
		ID    int64 `db:"job_id"`
		Times int   `db:"n"`
	}
	if err := db.SelectContext(t.Context(), &rows, `select job_id, count(*) as n from tekrar.history where state = 4 group by job_id`); err != nil {
		t.Fatal(err)
	}
	times := map[int64]int{}
	for _, r := range rows {
		times[r.ID] = r.Times
	}
	for id := range l.ids {
		if times[id] != 1 {
			t.Errorf("job %d was acknowledged and has succeeded %d times", id, times[id])
		}
	}
	t.Logf("%d jobs acknowledged, %d enqueues refused, %d jobs succeeded, %d runs that came to nothing",
		len(l.ids), l.refused.Load(), len(rows), count(db, `select count(*) from tekrar.history where state = 3`)-len(rows))
}

// page reads a page of the dashboard as a browser would.
func (p *process) page(path string) (status int, body string) {
	req, err := http.NewRequest("GET", p.url+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Accept", "text/html")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}
