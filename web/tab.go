package web

import (
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Times of a socket. The ping is below the 30 to 60 seconds after which proxies cut
// idle connections.
const (
	writeWait    = 5 * time.Second
	pingEvery    = 25 * time.Second
	pongWait     = 60 * time.Second
	closeWait    = time.Second
	recheckEvery = time.Minute
	queueFrames  = 8
	readLimit    = 4 << 10
	patience     = 2 * queueFrames // frames a tab may miss while its reload waits
)

// tab is one open socket. Only its write loop writes to the connection; everybody
// else puts frames into out or closes it with end.
type tab struct {
	conn    *websocket.Conn
	view    *view
	known   map[string]int64 // versions of the parts that the page was rendered with
	allowed func() bool      // still the same person in the same role?
	out     chan *websocket.PreparedMessage
	stop    chan struct{}

	mu     sync.Mutex // guards what follows, and the order of sends to out
	fresh  bool       // has not had its first frames yet
	missed int        // frames not queued since the tab fell behind; 0 = keeps up
	ended  bool
	code   int
	reason string
}

func newTab(conn *websocket.Conn, allowed func() bool, known map[string]int64) *tab {
	return &tab{
		conn: conn, allowed: allowed, known: known, fresh: true,
		out: make(chan *websocket.PreparedMessage, queueFrames), stop: make(chan struct{}),
	}
}

// send never blocks. A tab that has all its frames still queued gets them replaced
// by one that makes it fetch the page anew; one that does not take that either is closed.
func (t *tab) send(messages []*websocket.PreparedMessage, reload func() *websocket.PreparedMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.missed > 0 {
		if len(t.out) > 0 {
			if t.missed += len(messages); t.missed > patience {
				t.endLocked(websocket.CloseTryAgainLater, "too slow")
			}
			return
		}
		t.missed = 0 // the reload is on its way; what comes now is newer than its fetch
	}
	if len(t.out)+len(messages) <= cap(t.out) {
		for _, m := range messages {
			t.out <- m
		}
		return
	}
	for len(t.out) > 0 {
		select {
		case <-t.out:
		default:
		}
	}
	t.missed = 1
	t.out <- reload()
}

// end closes the socket with a code and reason; only the first call counts.
func (t *tab) end(code int, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(code, reason)
}

func (t *tab) endLocked(code int, reason string) {
	if !t.ended {
		t.ended, t.code, t.reason = true, code, reason
		close(t.stop)
	}
}

// serve runs the socket until it is closed, then closes the connection.
func (t *tab) serve() {
	read := make(chan struct{})
	go func() {
		defer close(read)
		t.readLoop()
	}()
	t.writeLoop()
	// A close frame is lost when the connection is cut while the other side still
	// sends, so its answer is awaited, briefly.
	t.conn.SetReadDeadline(time.Now().Add(closeWait))
	<-read
	t.conn.Close()
}

// readLoop reads for the sake of pongs and closes: sockets carry no commands.
func (t *tab) readLoop() {
	t.conn.SetReadLimit(readLimit)
	t.conn.SetReadDeadline(time.Now().Add(pongWait))
	t.conn.SetPongHandler(func(string) error {
		return t.conn.SetReadDeadline(time.Now().Add(pongWait))
	})
	for {
		if _, _, err := t.conn.NextReader(); err != nil {
			t.end(websocket.CloseNormalClosure, "")
			return
		}
		t.end(websocket.ClosePolicyViolation, "this socket takes no messages")
	}
}

func (t *tab) writeLoop() {
	ping, recheck := time.NewTicker(t.view.hub.ping), time.NewTicker(t.view.hub.recheck)
	defer ping.Stop()
	defer recheck.Stop()
	for {
		select { // queued frames do not hold up the end
		case <-t.stop:
			t.writeClose()
			return
		default:
		}
		select {
		case <-t.stop:
		case m := <-t.out:
			t.conn.SetWriteDeadline(time.Now().Add(writeWait))
			if t.conn.WritePreparedMessage(m) != nil {
				t.end(websocket.CloseTryAgainLater, "too slow")
				return
			}
		case <-ping.C:
			if t.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil {
				t.end(websocket.CloseGoingAway, "gone")
				return
			}
		case <-recheck.C:
			if !t.allowed() {
				t.end(websocket.ClosePolicyViolation, "access changed")
			}
		}
	}
}

func (t *tab) writeClose() {
	t.mu.Lock()
	message := websocket.FormatCloseMessage(t.code, t.reason)
	t.mu.Unlock()
	t.conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeWait))
}
