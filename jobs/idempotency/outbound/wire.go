package outbound

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// countedConn knows how much was handed to the network. A Write that has begun
// counts in full until it says otherwise.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n - len(p)))
	return n, err
}

// newTransport is the default one with counted connections.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: c}, nil
	}
	return t
}

// wire watches one request: was anything of it written?
type wire struct {
	mu      sync.Mutex
	conn    *countedConn // nil: a connection of somebody else's transport
	before  int64
	touched bool
}

func (w *wire) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.touched = w.wrote() // of an earlier connection, which the transport gave up
			w.conn = counted(info.Conn)
			if w.conn != nil {
				w.before = w.conn.written.Load()
			}
		},
		// Until the head is complete no server can act on the request.
		WroteHeaders: func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			// The head may still be in a buffer; a counted connection knows better.
			w.touched = w.touched || w.conn == nil
		},
	})
}

func (w *wire) wrote() bool {
	return w.touched || w.conn != nil && w.conn.written.Load() != w.before
}

// wroteNothing is certain: true means that the server cannot have seen the request.
func (w *wire) wroteNothing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.wrote()
}

func counted(c net.Conn) *countedConn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	own, _ := c.(*countedConn)
	return own
}
