package web_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/web"
)

// bridged serves one websocket route through the bridge on a real listener.
func bridged(t testing.TB, up *websocket.Upgrader, serve func(*websocket.Conn)) (host string) {
	t.Helper()
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadTimeout: 5 * time.Second})
	app.Get("/ws", func(c *fiber.Ctx) error { return web.Upgrade(c, up, serve) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go app.Listener(l)
	t.Cleanup(func() { app.Shutdown() })
	return l.Addr().String()
}

const handshake = "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// LIV-06: bytes that arrive in the packet of the handshake belong to the socket.
func TestBridgeKeepsEarlyBytes(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	host := bridged(t, &websocket.Upgrader{}, func(c *websocket.Conn) {
		_, message, err := c.ReadMessage()
		if err != nil {
			message = []byte(err.Error())
		}
		got <- string(message)
		c.WriteMessage(websocket.TextMessage, []byte("answer"))
	})
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	early := "\x81\x85\x00\x00\x00\x00early" // masked with zeros
	if _, err := io.WriteString(conn, handshake+early); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatalf("%v, %v", res, err)
	}
	if m := <-got; m != "early" {
		t.Errorf("the socket read %q", m)
	}
	frame := make([]byte, 8)
	if _, err := io.ReadFull(r, frame); err != nil || string(frame) != "\x81\x06answer" {
		t.Errorf("answer %q, %v", frame, err)
	}
}

// A newer fasthttp loses the first read deadline of a taken connection.
func TestBridgeKeepsReadDeadlines(t *testing.T) {
	t.Parallel()
	got := make(chan error, 2)
	host := bridged(t, &websocket.Upgrader{}, func(c *websocket.Conn) {
		c.SetReadDeadline(time.Now().Add(150 * time.Millisecond))
		_, _, err := c.ReadMessage()
		got <- err
	})
	c, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	select {
	case err := <-got:
		if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
			t.Errorf("read ended with %v, want its deadline", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the first read deadline was lost")
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, _, err := c.ReadMessage(); !websocket.IsUnexpectedCloseError(err) {
		t.Errorf("the connection stays open after its handler returned: %v", err)
	}
}

func TestBridgeCopiesRefusals(t *testing.T) {
	t.Parallel()
	host := bridged(t, &websocket.Upgrader{}, func(*websocket.Conn) {})
	good := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	}
	for name, c := range map[string]struct {
		header, value string
		status        int
	}{
		"no upgrade":     {"Connection", "close", 400},
		"other protocol": {"Upgrade", "h2c", 400},
		"old version":    {"Sec-WebSocket-Version", "8", 400},
		"bad key":        {"Sec-WebSocket-Key", "short", 400},
		"other origin":   {"Origin", "http://evil.example", 403},
	} {
		req, _ := http.NewRequest("GET", "http://"+host+"/ws", nil)
		for k, v := range good {
			req.Header.Set(k, v)
		}
		req.Header.Set(c.header, c.value)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.status || res.Header.Get("Sec-Websocket-Version") != "13" || strings.TrimSpace(string(body)) != http.StatusText(c.status) {
			t.Errorf("%s: %d %q %v", name, res.StatusCode, body, res.Header)
		}
	}
}

// LIV-06: inside net/http there is no connection to take over.
func TestBehindNetHTTPTheSocketSaysWhy(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	app := fiber.New()
	d, err := web.Mount(app, "/jobs", x.client, web.Options{
		Logger: x.quiet(),
		Access: web.Authorize(func(*fiber.Ctx) (string, web.Role, error) { return "ada", web.Admin, nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	s := httptest.NewServer(adaptor.FiberApp(app))
	defer s.Close()
	res, err := http.Get(s.URL + "/jobs/jobs")
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("pages: %v, %v", res, err)
	}
	res.Body.Close()
	_, res, err = websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/jobs/live?view=%2Fjobs%2F", nil)
	if err == nil || res == nil || res.StatusCode != 501 {
		t.Fatalf("socket: %v, %v", res, err)
	}
	if body, _ := io.ReadAll(res.Body); !strings.Contains(string(body), "adaptor.FiberApp") {
		t.Errorf("no hint in %q", body)
	}
}

// SEC-05: a socket opens for our own pages. No Origin means no browser; such a
// client holds nobody's cookies and is let in like any request.
func TestSocketOrigin(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), AllowedOrigins: []string{"https://ops.example.com"}}})
	for origin, status := range map[string]int{
		"http://" + x.host: 101, "https://" + x.host: 101, "https://ops.example.com": 101, "": 101,
		"http://evil.example": 403, "null": 403, "http://127.0.0.1:1": 403, "http://127.0.0.1": 403,
		"http://ops.example.com": 403, "https://ops.example.com.evil": 403, "ftp://" + x.host: 403,
		"http://" + x.host + ".evil.example": 403, "http://" + x.host + "@evil.example": 403, x.host: 403,
		"http://user@" + x.host: 403,
	} {
		h := http.Header{}
		if origin != "" {
			h.Set("Origin", origin)
		}
		c, res, err := x.dial("/live?view="+url.QueryEscape("/jobs"), h)
		if err == nil {
			c.Close()
		}
		if res == nil || res.StatusCode != status {
			t.Errorf("origin %q: %v, %v; want %d", origin, res, err, status)
		}
	}
}

func TestSocketNeedsAccess(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.Basic(map[string]string{"ada": "pw"})}})
	_, res, err := x.dial("/live?view=%2Fjobs", nil)
	if err == nil || res == nil || res.StatusCode != 401 {
		t.Errorf("without a login: %v, %v", res, err)
	}
	req, _ := http.NewRequest("GET", "/", nil)
	req.SetBasicAuth("ada", "pw")
	c, _, err := x.dial("/live?view=%2Fjobs", req.Header)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// Sockets carry no commands: whatever arrives ends them.
	before := x.picture()
	c.WriteMessage(websocket.TextMessage, []byte(`{"do":"delete","target":"1:enqueued"}`))
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	for err == nil {
		_, _, err = c.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("a message: socket ends with %v", err)
	}
	if after := x.picture(); before != after {
		t.Errorf("a message changed something: %s, then %s", before, after)
	}
}
