package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// closer answers the first request of each connection and takes every later one
// without an answer: it processes it and closes.
type closer struct {
	url              string
	came, unanswered atomic.Int64
}

func newCloser(t *testing.T) *closer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	c := &closer{url: "http://" + ln.Addr().String()}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return c
}

func (c *closer) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for first := true; ; first = false {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		c.came.Add(1)
		if !first {
			c.unanswered.Add(1)
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	}
}

// The transport's own second request: of two calls, net/http alone makes three
// requests and reports two successes; the client makes two.
func TestTransportDoesNotResend(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"to":"a"}`, ""} {
		s, c := newCloser(t), &http.Client{Transport: &http.Transport{}}
		for range 2 {
			req := post(t, s.url, body)
			req.Header.Set("Idempotency-Key", "k")
			resp, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if s.came.Load() != 3 || s.unanswered.Load() != 1 {
			t.Errorf("net/http made %d requests, %d of them unanswered: it no longer resends, or this test shows nothing", s.came.Load(), s.unanswered.Load())
		}
		c.CloseIdleConnections()
	}
	for name, body := range map[string]string{"with body": `{"to":"a"}`, "without body": ""} {
		for _, own := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, c, claim := newCloser(t), newClient(t, Article()), &claims{}
				if !own {
					c = &Client{Profile: Article(), HTTP: &http.Client{Transport: &http.Transport{}}}
					t.Cleanup(c.client().CloseIdleConnections)
				}
				if _, err := c.Do(post(t, s.url, body), "k:1", nil); err != nil {
					t.Fatal(err)
				}
				_, err := c.Do(post(t, s.url, body), "k:2", claim)
				if _, unknown := errors.AsType[*Unknown](err); !unknown || claim.told() != "begin unknown" || s.came.Load() != 2 || s.unanswered.Load() != 1 {
					t.Errorf("%v, claim %s, %d requests", err, claim.told(), s.came.Load())
				}
			})
		}
	}
}

func TestNothingWasSent(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + ln.Addr().String()
	ln.Close()
	stale, cancel := context.WithCancel(t.Context())
	cancel()
	for name, req := range map[string]*http.Request{
		"refused":      post(t, closed, "x"),
		"no such host": post(t, "http://nobody.invalid/", "x"),
		"no scheme":    post(t, "mailer/x", "x"),
		"ended before": post(t, answering(t, answer{200, "", "{}"}.serve), "x").WithContext(stale),
		"TLS to plain": post(t, strings.Replace(answering(t, answer{200, "", "{}"}.serve), "http:", "https:", 1), "x"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, own := range []bool{true, false} {
				c, claim := newClient(t, Article()), &claims{}
				if !own {
					c = &Client{Profile: Article(), HTTP: &http.Client{Transport: &http.Transport{}}}
				}
				_, err := c.Do(req.Clone(req.Context()), "k", claim)
				e, ok := errors.AsType[*Refused](err)
				if !ok || claim.told() != "begin release" || e.Status != 0 || !strings.Contains(err.Error(), "nothing was sent") {
					t.Errorf("%v, claim %s", err, claim.told())
				}
				if strings.Contains(err.Error(), "http") && strings.Contains(err.Error(), closed) {
					t.Errorf("the address is in the error: %v", err)
				}
			}
		})
	}
}

// From the first byte on nobody knows, whatever the error says.
func TestSentAndLost(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(net.Conn, *http.Request){
		"closed at once":     func(net.Conn, *http.Request) {},
		"closed in the head": func(c net.Conn, _ *http.Request) { io.WriteString(c, "HTTP/1.1 20") },
		"nonsense":           func(c net.Conn, _ *http.Request) { io.WriteString(c, "220 smtp ready\r\n\r\n") },
		"closed in the body": func(c net.Conn, _ *http.Request) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"messageId")
		},
		"silent": func(c net.Conn, _ *http.Request) { io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := raw(t, act)
			c, claim := newClient(t, Article()), &claims{}
			c.Timeout = 500 * time.Millisecond
			_, err := c.Do(post(t, url, `{"to":"a"}`), "k", claim)
			if _, ok := errors.AsType[*Unknown](err); !ok || claim.told() != "begin unknown" {
				t.Errorf("%v, claim %s", err, claim.told())
			}
			if name == "silent" && !strings.Contains(err.Error(), "no answer within 500ms") {
				t.Errorf("says %v", err)
			}
		})
	}
}

// A lost body of a success: a provider with keys repeats it, one without must not
// be asked again.
func TestBodyLost(t *testing.T) {
	t.Parallel()
	url := raw(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
	})
	c, claim := newClient(t, NoKeys()), &claims{}
	if _, err := c.Do(post(t, url, "x"), "k", claim); err != nil || claim.told() != "begin done" {
		t.Errorf("%v, claim %s", err, claim.told())
	}
}

// raw serves one request a connection by hand.
func raw(t *testing.T, act func(net.Conn, *http.Request)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					io.Copy(io.Discard, req.Body)
					act(conn, req)
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// Over TLS and HTTP/2 the counted connection lies below.
func TestCountedUnderTLS(t *testing.T) {
	t.Parallel()
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(answer{200, "", `{"messageId":"m"}`}.serve))
		s.EnableHTTP2 = two
		s.StartTLS()
		t.Cleanup(s.Close)
		transport := newTransport()
		transport.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
		c, claim := newClient(t, Article()), &claims{}
		c.http.Transport = transport
		for range 2 {
			resp, err := c.Do(post(t, s.URL, "x"), "k", claim)
			if err != nil || resp.Reference != "m" {
				t.Errorf("HTTP/2 %v: %+v %v", two, resp, err)
			}
		}
		transport.CloseIdleConnections()
	}
	w, own := &wire{}, &countedConn{}
	if w.conn = counted(tls.Client(own, &tls.Config{})); w.conn != own || !w.wroteNothing() {
		t.Error("the connection under TLS is not found")
	}
	own.written.Add(1)
	if w.wroteNothing() {
		t.Error("a written byte is not seen")
	}
}
