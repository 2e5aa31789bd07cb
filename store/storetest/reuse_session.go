package storetest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// What a first message asks for, after its length.
const (
	startupCode = 3 << 16
	cancelCode  = 1234<<16 | 5678
)

const terminate = "X\x00\x00\x00\x04"

// session is a client's connection to a backend, which outlives it.
type session struct {
	dial func() (net.Conn, error)

	reading sync.Mutex // held during a Read

	mu          sync.Mutex
	backend     *backend
	key         string // that cancels statements, as the client was told; "" until then
	told        []byte // what it reads before what the backend says
	closed      bool
	read, write time.Time // deadlines

	ending sync.Mutex // held during a cancellation, and while Close parks the backend
	parked bool
}

// Write implements net.Conn. lib/pq writes whole messages.
func (s *session) Write(p []byte) (int, error) {
	b, out, err := s.writer(p)
	if err == nil && len(out) > 0 {
		_, err = b.Write(out)
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// writer is where to write what for p.
func (s *session) writer(p []byte) (*backend, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, net.ErrClosed
	case s.backend == nil:
		out, err := s.begin(p)
		return s.backend, out, err
	case string(p) == terminate && s.backend.heard.idle():
		return nil, nil, nil // Close decides
	}
	s.backend.heard.ready = false
	return s.backend, p, nil
}

// begin finds the backend for the first message and what to write to it.
func (s *session) begin(p []byte) ([]byte, error) {
	b, out, code := &backend{}, p, uint32(0)
	if len(p) >= 8 {
		code = binary.BigEndian.Uint32(p[4:])
	}
	switch {
	case code == startupCode:
		if parked := lot.take(string(p)); parked != nil {
			b, out = parked, nil
			s.key = b.key[:4] + rand.Text()[:4]
			s.told = b.greeting(s.key)
			lot.hold(s, s.key)
		}
		b.startup = string(p)
	case code == cancelCode && len(p) == 16:
		holder := lot.holder(string(p[8:]))
		if holder == nil || holder.cancel() { // the answer is that the server hangs up
			mine, its := net.Pipe()
			its.Close()
			b.Conn, out = mine, nil
		} else {
			out = append(p[:8:8], holder.backend.key...)
		}
	}
	if b.Conn == nil {
		c, err := s.dial()
		if err != nil {
			return nil, err
		}
		b.Conn = c
	}
	s.backend = b
	if err := b.SetReadDeadline(s.read); err != nil {
		return nil, err
	}
	return out, b.SetWriteDeadline(s.write)
}

// Read implements net.Conn.
func (s *session) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	b, n, closed := s.backend, copy(p, s.told), s.closed
	s.told = s.told[n:]
	s.mu.Unlock()
	if closed || b == nil {
		return 0, net.ErrClosed
	}
	if n > 0 {
		return n, nil
	}
	n, err := b.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.startup != "" {
		b.hear(p[:n])
		if s.key == "" && b.key != "" {
			s.key = b.key
			lot.hold(s, s.key)
		}
	}
	if err != nil && s.closed {
		err = net.ErrClosed
	}
	return n, err
}

// Close parks the backend if nothing goes on in it.
func (s *session) Close() error {
	s.mu.Lock()
	b, closed := s.backend, s.closed
	s.closed = true
	s.mu.Unlock()
	if b == nil || closed {
		return nil
	}
	_ = b.SetReadDeadline(time.Unix(1, 0)) // a listener reads for ever
	s.reading.Lock()
	defer s.reading.Unlock()
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.key == "" || len(s.told) > 0 || !b.heard.idle() || b.sleep() != nil {
		return b.Close()
	}
	s.parked = true
	lot.release(s.key)
	lot.park(b)
	return nil
}

// cancel ends the running statement without the process that the server would start
// for it, false if only the server can. A parked backend has none that is ours.
func (s *session) cancel() bool {
	s.ending.Lock()
	defer s.ending.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if s.parked || closed {
		return s.parked
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	pid, sent := binary.BigEndian.Uint32([]byte(s.key)), false
	err := shared.admin.QueryRowContext(ctx, `select pg_cancel_backend($1)`, int(pid)).Scan(&sent)
	return err == nil
}

// SetDeadline implements net.Conn.
func (s *session) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (s *session) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = t
	if s.backend == nil || s.closed {
		return nil
	}
	return s.backend.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (s *session) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write = t
	if s.backend == nil || s.closed {
		return nil
	}
	return s.backend.SetWriteDeadline(t)
}

// LocalAddr implements net.Conn.
func (s *session) LocalAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// RemoteAddr implements net.Conn.
func (s *session) RemoteAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }
