package store

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// dialer opens sockets on which every Read and Write has an end of its own: a
// context deadline alone does not unblock lib/pq when the network has gone silent.
type dialer struct {
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	read, write time.Duration // 0 or less: none
}

func newDialer(o Options) *dialer {
	d := &dialer{dial: o.Dial, read: o.ReadTimeout, write: o.WriteTimeout}
	if d.dial == nil {
		d.dial = (&net.Dialer{
			Timeout: connectTimeout,
			KeepAliveConfig: net.KeepAliveConfig{
				Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
			},
		}).DialContext
	}
	return d
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext lets lib/pq give up a dial when the caller does.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &deadlineConn{Conn: c, read: d.read, write: d.write}, nil
}

// deadlineConn remembers a deadline set from outside (lib/pq limits the whole
// handshake with one) and never stretches it.
type deadlineConn struct {
	net.Conn
	read, write time.Duration
	outer       atomic.Int64 // Unix nanoseconds, 0: none
}

func (c *deadlineConn) limit(d time.Duration) time.Time {
	var t time.Time
	if d > 0 {
		t = time.Now().Add(d)
	}
	if o := c.outer.Load(); o != 0 {
		if outer := time.Unix(0, o); t.IsZero() || outer.Before(t) {
			t = outer
		}
	}
	return t
}

func (c *deadlineConn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(c.limit(c.read)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *deadlineConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(c.limit(c.write)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *deadlineConn) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.outer.Store(0)
	} else {
		c.outer.Store(t.UnixNano())
	}
	return c.Conn.SetDeadline(t)
}
