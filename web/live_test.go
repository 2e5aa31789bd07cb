package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
	"github.com/tekrar/tekrar/web"
)

// openAsPage fetches a page and opens the socket that it names.
func (x *site) openAsPage(path string) *websocket.Conn {
	x.t.Helper()
	_, rest, ok := strings.Cut(x.get(path).wants(x.t, 200).body, `data-live="`)
	address, _, _ := strings.Cut(rest, `"`)
	if !ok || address == "" {
		x.t.Fatalf("%s names no socket", path)
	}
	c, res, err := x.dial(strings.ReplaceAll(address, "&amp;", "&"), http.Header{"Origin": {"http://" + x.host}})
	if err != nil {
		x.t.Fatalf("%s: %v, %v", address, res, err)
	}
	x.t.Cleanup(func() { c.Close() })
	return c
}

// await reads frames until one has a part that satisfies ok.
func await(t testing.TB, c *websocket.Conn, what, id string, ok func(html string) bool) frame {
	t.Helper()
	var had []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		f, err := read(t, c)
		if err != nil {
			t.Fatalf("%s: %v; parts so far %v", what, err, had)
		}
		for _, p := range f.Parts {
			had = append(had, p.ID)
			if p.ID == id && ok(p.HTML) {
				return f
			}
		}
	}
	t.Fatalf("%s: not within 20 s; parts so far %v", what, had)
	return frame{}
}

func has(text string) func(string) bool {
	return func(html string) bool { return strings.Contains(html, text) }
}

// Every page moves by itself, with hints and by polling alone.
func TestPagesMove(t *testing.T) {
	t.Parallel()
	for _, pollOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("pollOnly=%v", pollOnly), func(t *testing.T) {
			t.Parallel()
			x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}, client: jobs.Config{PollOnly: pollOnly}})
			x.work()
			id := x.failed("one")
			row := "job-row-" + strconv.FormatInt(id, 10)
			list, page := x.openAsPage("/jobs?state=failed"), x.openAsPage(fmt.Sprintf("/jobs/%d", id))
			newest := x.openAsPage("/")
			overview, queues, servers := x.openAsPage("/"), x.openAsPage("/queues"), x.openAsPage("/servers")
			attempts := x.openAsPage("/attempts?span=1h")
			x.post("/jobs/act", url.Values{"do": {"delete"}, "target": {targetOf(id, store.Failed)}}).wants(t, 303)
			await(t, list, "the row is dimmed", row, func(html string) bool {
				return strings.Contains(html, "gone") && strings.Contains(html, "deleted")
			})
			await(t, page, "the job's header", "job-header", has("deleted"))
			await(t, newest, "the overview's failures", "failure-top", has("No failed job"))
			f := await(t, overview, "tiles", "tiles", has("<"))
			if time.Since(f.AsOf).Abs() > time.Minute {
				t.Errorf("as of %s", f.AsOf)
			}
			x.failed("second")
			for deadline := time.Now().Add(20 * time.Second); ; {
				f, err := read(t, list)
				if err != nil || time.Now().After(deadline) {
					t.Fatalf("the new failure is not news: %v", err)
				}
				if f.News == 1 {
					break
				}
			}
			x.post("/queues/act", url.Values{"do": {"pause"}, "queue": {"default"}}).wants(t, 303)
			await(t, queues, "queues", "queue-rows", has("paused"))
			await(t, servers, "servers", "server-rows", has("<tr"))
			await(t, attempts, "attempts", "attempts-chart", has("<svg"))
		})
	}
}

// A page that is as new as the database gets no rows, only what has no version.
func TestJoinerGetsWhatItLacks(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for range 50 {
		x.enqueue(note{Text: "n"})
	}
	c := x.openAsPage("/jobs?state=enqueued")
	f, err := read(t, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Parts {
		if strings.HasPrefix(p.ID, "job-row-") {
			t.Errorf("row %s was sent although the page has it", p.ID)
		}
	}
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	// A page that says only which rows it has gets all of them, in frames of a bounded size.
	old, res, err := x.dial("/live?view="+url.QueryEscape("/jobs?state=enqueued")+"&ids="+strings.Join(ids, ","), nil)
	if err != nil {
		t.Fatalf("%v, %v", res, err)
	}
	defer old.Close()
	rows, seq := map[string]bool{}, int64(0)
	for len(rows) < 50 {
		f, err := read(t, old)
		if err != nil {
			t.Fatalf("%d rows, then %v", len(rows), err)
		}
		size := 0
		for _, p := range f.Parts {
			size += len(p.HTML)
			if strings.HasPrefix(p.ID, "job-row-") {
				rows[p.ID] = true
			}
		}
		if size > 24<<10 || (seq != 0 && f.Seq != seq+1) {
			t.Errorf("frame %d after %d with %d bytes", f.Seq, seq, size)
		}
		seq = f.Seq
	}
}

// LIF-07: open sockets do not hold the server; each is told that it goes away.
func TestShutdownEndsSockets(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	var sockets []*websocket.Conn
	for range 5 {
		sockets = append(sockets, x.openAsPage("/"))
	}
	ended := make(chan error, len(sockets))
	for _, c := range sockets {
		go func() { ended <- closed(t, c) }()
	}
	began := time.Now()
	if err := x.dash.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	for range sockets {
		if err := <-ended; !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("a socket ends with %v, want 1001", err)
		}
	}
	if _, res, err := x.dial("/live?view=%2F", nil); err == nil || res == nil || res.StatusCode != 503 {
		t.Errorf("a new socket while closing: %v, %v", res, err)
	}
	x.get("/").wants(t, 200)
	x.stop()
}

// Not parallel, so that no other test's goroutines are counted.
func TestNothingIsLeftRunning(t *testing.T) {
	storetest.DSN(t) // starts the server and its pool
	before := goleak.IgnoreCurrent()
	t.Run("site", func(t *testing.T) {
		x := open(t, settings{options: web.Options{Access: web.None()}})
		x.enqueue(note{})
		gone, stays := x.openAsPage("/jobs"), x.openAsPage("/")
		if _, err := read(t, gone); err != nil {
			t.Fatal(err)
		}
		gone.Close()
		if _, err := read(t, stays); err != nil {
			t.Fatal(err)
		}
		go closed(t, stays)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := x.dash.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	goleak.VerifyNone(t, before,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}
