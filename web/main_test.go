package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
	"github.com/tekrar/tekrar/web"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// note is the args of every test job. Fail makes it end in failed at once; with
// the text "first" that holds for its first attempt only.
type note struct {
	Text string `json:"text"`
	Fail bool   `json:"fail"`
}

func (note) Kind() string { return "note" }

// site is a dashboard on a real listener over a database of the test's own.
type site struct {
	t      testing.TB
	db     *store.DB
	client *jobs.Client
	dash   *web.Dashboard
	host   string // 127.0.0.1:port
	prefix string
	log    *lockedWriter
	http   *http.Client
	stop   func()
}

type settings struct {
	prefix  string
	options web.Options
	fiber   *fiber.Config // of the user's own app; nil: the program's server
	client  jobs.Config
}

func open(t testing.TB, s settings) *site {
	t.Helper()
	x := &site{t: t, db: storetest.New(t), prefix: s.prefix, log: &lockedWriter{}}
	s.client.Logger = slog.New(slog.DiscardHandler)
	s.client.Lease, s.client.Heartbeat = 2*time.Second, 500*time.Millisecond
	client, err := jobs.New(x.db, s.client)
	if err != nil {
		t.Fatal(err)
	}
	x.client = client
	jobs.Handle(client, func(_ context.Context, j *jobs.Job[note]) error {
		if j.Args.Fail && (j.Args.Text != "first" || j.Attempt == 1) {
			return jobs.Permanent(fmt.Errorf("cannot file %s", j.Args.Text))
		}
		return nil
	})
	if s.options.Logger == nil {
		s.options.Logger = slog.New(slog.NewTextHandler(x.log, nil))
	}
	var shutdown func(context.Context) error
	var serve func() error
	if s.fiber == nil {
		server, err := web.Listen("127.0.0.1:0", s.prefix, client, s.options)
		if err != nil {
			t.Fatal(err)
		}
		x.host, x.dash, serve, shutdown = server.Addr(), server.Dashboard, server.Serve, server.Shutdown
	} else {
		s.fiber.DisableStartupMessage = true
		app := fiber.New(*s.fiber)
		if x.dash, err = web.Mount(app, s.prefix, client, s.options); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		x.host = l.Addr().String()
		serve = func() error { return app.Listener(l) }
		shutdown = func(ctx context.Context) error {
			defer l.Close()
			return errors.Join(x.dash.Close(ctx), app.ShutdownWithContext(ctx))
		}
	}
	served := make(chan error, 1)
	go func() { served <- serve() }()
	x.http = &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       30 * time.Second,
	}
	stopped := false
	x.stop = func() {
		if stopped {
			return
		}
		stopped = true
		x.http.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	t.Cleanup(x.stop)
	return x
}

// work runs the engine until the test ends.
func (x *site) work() {
	x.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.client.Run(ctx) }()
	x.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			x.t.Errorf("run: %v", err)
		}
	})
}

func (x *site) enqueue(n note, o ...jobs.EnqueueOption) int64 {
	x.t.Helper()
	e, err := x.client.Enqueue(x.t.Context(), n, o...)
	if err != nil {
		x.t.Fatal(err)
	}
	return e.ID
}

// failed makes a failed job.
func (x *site) failed(text string) int64 {
	x.t.Helper()
	id := x.enqueue(note{Text: text, Fail: true})
	x.until("job failed", func() bool { return x.state(id) == store.Failed })
	return id
}

func (x *site) state(id int64) store.State {
	x.t.Helper()
	rows, err := x.db.JobRows(context.Background(), []int64{id})
	if err != nil || len(rows) != 1 {
		x.t.Fatalf("job %d: %d rows, %v", id, len(rows), err)
	}
	return rows[0].State
}

func (x *site) until(what string, ok func() bool) {
	x.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

type headers map[string]string

var ours = headers{"Sec-Fetch-Site": "same-origin"}

func (x *site) do(method, path string, form url.Values, h headers) answer {
	x.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequest(method, "http://"+x.host+path, body)
	if err != nil {
		x.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range h {
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	res, err := x.http.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return answer{res, string(text)}
}

func (x *site) get(path string) answer { x.t.Helper(); return x.do("GET", x.prefix+path, nil, nil) }

func (x *site) post(path string, form url.Values) answer {
	x.t.Helper()
	return x.do("POST", x.prefix+path, form, ours)
}

// wants fails the test unless the answer has the status and all the texts.
func (a answer) wants(t testing.TB, status int, texts ...string) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s: status %d, want %d\n%s", a.Request.URL, a.StatusCode, status, clip(a.body))
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%s: %q is not in\n%s", a.Request.URL, text, clip(a.body))
		}
	}
	return a
}

func clip(s string) string {
	if len(s) > 1500 {
		if i := strings.Index(s, "<main"); i > 0 {
			s = s[i:]
		}
	}
	return s[:min(len(s), 1500)]
}

// dial opens the live socket of a page.
func (x *site) dial(address string, h http.Header) (*websocket.Conn, *http.Response, error) {
	dialer := websocket.Dialer{EnableCompression: true, HandshakeTimeout: 10 * time.Second}
	return dialer.Dial("ws://"+x.host+address, h)
}

// lockedWriter lets handlers log at once.
type lockedWriter struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedWriter) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (x *site) quiet() *slog.Logger { return slog.New(slog.NewTextHandler(x.log, nil)) }
