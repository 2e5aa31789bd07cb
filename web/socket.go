package web

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/gorilla/websocket"
)

// errNoUpgrade: the connection underneath cannot be taken over.
var errNoUpgrade = errors.New("the connection cannot become a websocket")

// upgrade answers a websocket handshake inside a Fiber handler and calls serve with
// the socket once the handler has returned. It exists because fasthttp's net/http
// adaptor has no Hijacker. A refusal of the upgrader is copied to c. serve owns the
// socket; the connection is closed when it returns.
func upgrade(c *fiber.Ctx, up *websocket.Upgrader, serve func(*websocket.Conn)) (err error) {
	raw := &takenConn{Conn: c.Context().Conn()}
	raw.from = raw.Conn
	w := &handshakeWriter{header: http.Header{}, conn: raw}
	// Behind adaptor.FiberApp there is no connection, only a stand-in that panics.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errNoUpgrade, r)
		}
	}()
	conn, err := up.Upgrade(w, handshakeRequest(c), nil)
	if err != nil {
		if w.hijacked {
			return fmt.Errorf("%w: %w", errNoUpgrade, err)
		}
		for name, values := range w.header {
			c.Response().Header.Del(name)
			for _, v := range values {
				c.Response().Header.Add(name, v)
			}
		}
		c.Status(w.status)
		return c.Send(w.body.Bytes())
	}
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(handed net.Conn) {
		// Bytes that came with or right after the handshake sit in fasthttp's reader.
		raw.from = handed
		serve(conn)
	})
	return nil
}

// handshakeRequest copies what the upgrader looks at; nothing of it points into c.
func handshakeRequest(c *fiber.Ctx) *http.Request {
	r := &http.Request{
		Method: keep(c.Method()), URL: &url.URL{Path: keep(c.Path())},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Host: hostOf(c), Body: http.NoBody,
	}
	c.Request().Header.VisitAll(func(name, value []byte) {
		r.Header.Add(string(name), string(value))
	})
	return r
}

// takenConn is the raw connection with a reader that can be exchanged. Deadlines and
// Close go to the raw connection; fasthttp's own wrapper ignores Close.
type takenConn struct {
	net.Conn
	from io.Reader
}

func (t *takenConn) Read(p []byte) (int, error) { return t.from.Read(p) }

// handshakeWriter collects a refusal, or gives the connection away.
type handshakeWriter struct {
	header   http.Header
	body     bytes.Buffer
	status   int
	conn     net.Conn
	hijacked bool
}

func (w *handshakeWriter) Header() http.Header { return w.header }

func (w *handshakeWriter) WriteHeader(status int) { w.status = status }

func (w *handshakeWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.body.Write(p)
}

func (w *handshakeWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.hijacked = true
	// Small, so that the upgrader makes its own of the sizes it was told.
	small := bufio.NewReadWriter(bufio.NewReaderSize(w.conn, 16), bufio.NewWriterSize(w.conn, 16))
	return w.conn, small, nil
}
