package outbound

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// claims notes what a call did to its claim.
type claims struct {
	steps   []string
	receipt Receipt
	refuse  error // of Begin
}

func (c *claims) Begin(context.Context) error {
	c.steps = append(c.steps, "begin")
	return c.refuse
}

func (c *claims) Done(_ context.Context, r any) error {
	c.steps, c.receipt = append(c.steps, "done"), r.(Receipt)
	return nil
}

func (c *claims) Release(_ context.Context, _ string) error {
	c.steps = append(c.steps, "release")
	return nil
}

func (c *claims) Unknown(context.Context, error) error {
	c.steps = append(c.steps, "unknown")
	return nil
}

func (c *claims) told() string { return strings.Join(c.steps, " ") }

// calls is a log in memory.
type calls struct {
	mu    sync.Mutex
	begun []store.ProviderCall
	ended []store.ProviderCall
	fail  error
}

func (c *calls) BeginCall(_ context.Context, call store.ProviderCall) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return 0, c.fail
	}
	c.begun = append(c.begun, call)
	return int64(len(c.begun)), nil
}

func (c *calls) EndCall(_ context.Context, _ int64, call store.ProviderCall) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, call)
	return c.fail
}

// answering is a provider that always says the same.
func answering(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// newClient closes its connections with the test.
func newClient(t *testing.T, p Profile) *Client {
	t.Helper()
	c := &Client{Profile: p, Logger: slog.New(slog.DiscardHandler), Log: &calls{}}
	t.Cleanup(c.client().CloseIdleConnections)
	return c
}

func post(t *testing.T, url, body string) *http.Request {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}
