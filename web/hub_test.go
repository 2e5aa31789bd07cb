package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// frame is what a page receives.
type frame struct {
	Seq   int64
	Parts []struct {
		ID   string
		V    int64
		HTML string
	}
	News   int
	Reload bool
	AsOf   time.Time
}

func read(t testing.TB, c *websocket.Conn) (f frame, err error) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(15 * time.Second))
	_, data, err := c.ReadMessage()
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatalf("frame %q: %v", data, err)
	}
	return f, nil
}

func closed(t testing.TB, c *websocket.Conn) error {
	t.Helper()
	for deadline := time.Now().Add(40 * time.Second); ; {
		if _, err := read(t, c); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("still open after 40 s")
		}
	}
}

// One slow reader among 200 sockets costs the others nothing. It is told to fetch
// its page anew, and closed with 1013 when it does not read that either.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const sockets = 200
	hub := web.NewTestHub(20 * time.Millisecond)
	var n, looks, connections atomic.Int64
	text := func() (string, error) { return fmt.Sprintf("%d %s", n.Load(), strings.Repeat("x", 4<<10)), nil }
	host := bridged(t, &websocket.Upgrader{WriteBufferSize: 1024}, func(c *websocket.Conn) {
		if connections.Add(1) == 1 {
			web.SmallBuffer(c)
		}
		hub.Show(c, "view", text, &looks)
	})
	began := time.Now()
	slow := dialSmall(t, host)
	look(t, hub, &looks) // it is in, and was the first
	latest := make([]atomic.Int64, sockets)
	ended := make(chan error, sockets)
	for i := range sockets - 1 {
		c, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() {
			for seq := int64(0); ; {
				f, err := read(t, c)
				if err != nil {
					ended <- err
					return
				}
				if f.Reload || (seq != 0 && f.Seq != seq+1) {
					ended <- fmt.Errorf("socket %d: reload %v, frame %d after %d", i, f.Reload, f.Seq, seq)
					return
				}
				seq = f.Seq
				if len(f.Parts) == 0 { // says only that all is well
					continue
				}
				var at int64
				fmt.Sscan(f.Parts[0].HTML, &at)
				latest[i].Store(at)
			}
		}()
	}
	all := func() bool {
		for i := range sockets - 1 {
			if latest[i].Load() != n.Load() {
				return false
			}
		}
		return true
	}
	wait := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			select {
			case err := <-ended:
				t.Fatalf("a fast socket ended: %v", err)
			default:
			}
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	for range 60 { // more frames than queue, patience and kernel buffers take
		n.Add(1)
		hub.Hint()
		wait("the fast sockets do not get the newest state", all)
	}
	err := closed(t, slow)
	took := time.Since(began) // beyond the write deadline of 5 s it is cut without a word
	if !websocket.IsCloseError(err, websocket.CloseTryAgainLater) && took < 4*time.Second {
		t.Errorf("the slow socket ends with %v, want 1013", err)
	}
	if looks := looks.Load(); looks > 400 {
		t.Errorf("%d looks for 60 changes and %d sockets: not one a view", looks, sockets)
	}
	if err := hub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for range sockets - 1 {
		if err := <-ended; !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("a socket ends with %v, want 1001", err)
		}
	}
}

// A reader that was away for a while is told to fetch its page, then gets frames again.
func TestResync(t *testing.T) {
	t.Parallel()
	hub := web.NewTestHub(time.Millisecond)
	defer hub.Close(context.Background())
	var n, looks atomic.Int64
	host := bridged(t, &websocket.Upgrader{WriteBufferSize: 1024}, func(c *websocket.Conn) {
		web.SmallBuffer(c)
		hub.Show(c, "view", func() (string, error) { return fmt.Sprintf("%d %s", n.Load(), strings.Repeat("x", 16<<10)), nil }, &looks)
	})
	c := dialSmall(t, host)
	if _, err := read(t, c); err != nil {
		t.Fatal(err)
	}
	// One frame is stuck in the connection, eight wait; what follows is replaced by
	// the order to reload, but not yet so often that the tab is given up.
	for range 14 {
		n.Add(1)
		look(t, hub, &looks)
	}
	for {
		f, err := read(t, c)
		if err != nil {
			t.Fatalf("ended with %v before any reload", err)
		}
		if f.Reload {
			break
		}
	}
	n.Add(1)
	hub.Hint()
	want := fmt.Sprintf("%d x", n.Load())
	for {
		f, err := read(t, c)
		if err != nil {
			t.Fatalf("after the reload: %v", err)
		}
		if len(f.Parts) > 0 && strings.HasPrefix(f.Parts[0].HTML, want) {
			return
		}
	}
}

// look hints and waits until the hub has looked.
func look(t testing.TB, hub *web.TestHub, looks *atomic.Int64) {
	t.Helper()
	at := looks.Load()
	hub.Hint()
	for deadline := time.Now().Add(20 * time.Second); looks.Load() == at; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a hint led to no look within 20 s")
		}
	}
}

// dialSmall is a client whose connection holds a few kilobytes.
func dialSmall(t testing.TB, host string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{ReadBufferSize: 1024, NetDial: func(network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		if err == nil {
			c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}}
	c, _, err := d.Dial("ws://"+host+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// LIV-04: frames, pings and the end of the server at once; run with -race.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	hub := web.NewTestHub(time.Millisecond)
	var n, looks atomic.Int64
	host := bridged(t, &websocket.Upgrader{EnableCompression: true}, func(c *websocket.Conn) {
		hub.Show(c, fmt.Sprint(n.Load()%3), func() (string, error) { return fmt.Sprint(n.Add(1)), nil }, &looks)
	})
	ended := make(chan error, 20)
	for range 20 {
		c, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					c.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(time.Second))
					time.Sleep(time.Millisecond)
				}
			}
		}()
		go func() {
			err := closed(t, c)
			close(stop)
			ended <- err
		}()
	}
	for range 500 {
		hub.Hint()
		time.Sleep(2 * time.Millisecond)
	}
	if err := hub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for range 20 {
		if err := <-ended; !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("a socket ends with %v, want 1001", err)
		}
	}
}

// What a look cannot read is left out; a page whose subject is gone fetches itself.
func TestLooksThatFail(t *testing.T) {
	t.Parallel()
	hub := web.NewTestHub(time.Millisecond)
	defer hub.Close(context.Background())
	var looks atomic.Int64
	var broken atomic.Pointer[error]
	down, gone := errors.New("database is down"), fmt.Errorf("job 7: %w", store.ErrNotFound)
	broken.Store(&down)
	host := bridged(t, &websocket.Upgrader{}, func(c *websocket.Conn) {
		hub.Show(c, "view", func() (string, error) {
			if err := broken.Load(); err != nil {
				return "", *err
			}
			return "fine", nil
		}, &looks)
	})
	c, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	look(t, hub, &looks)
	broken.Store(nil)
	hub.Hint()
	if f, err := read(t, c); err != nil || len(f.Parts) != 1 || f.Parts[0].HTML != "fine" {
		t.Fatalf("%+v, %v", f, err)
	}
	broken.Store(&gone)
	hub.Hint()
	if f, err := read(t, c); err != nil || !f.Reload {
		t.Fatalf("%+v, %v", f, err)
	}
}

// What looks the same is not sent again, however often it is looked at.
func TestOnlyChangesAreSent(t *testing.T) {
	t.Parallel()
	hub := web.NewTestHub(time.Millisecond)
	defer hub.Close(context.Background())
	var n, looks atomic.Int64
	host := bridged(t, &websocket.Upgrader{}, func(c *websocket.Conn) {
		hub.Show(c, "view", func() (string, error) { return fmt.Sprint(n.Load()), nil }, &looks)
	})
	c, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	first, err := read(t, c)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		look(t, hub, &looks)
	}
	n.Add(1)
	hub.Hint()
	f, err := read(t, c)
	if err != nil || f.Seq != first.Seq+1 || len(f.Parts) != 1 || f.Parts[0].HTML != "1" || f.Parts[0].V <= first.Parts[0].V {
		t.Errorf("after %+v came %+v, %v", first, f, err)
	}
}
