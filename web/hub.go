package web

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// hub holds the views that somebody looks at. It renders each distinct view once,
// however many sockets show it.
type hub struct {
	stop    chan struct{}
	gap     time.Duration  // shortest time between two looks of a view
	recheck time.Duration  // how often an open socket asks for its access again
	ping    time.Duration  // how often an open socket is pinged
	renders chan struct{}  // slots: bounds the database work of all views together
	running sync.WaitGroup // goroutines of views
	open    sync.WaitGroup // sockets

	mu     sync.Mutex
	views  map[string]*view
	closed bool
}

const (
	rendersAtOnce = 4
	closeSockets  = 5 * time.Second // longest wait for sockets at shutdown
)

func newHub() *hub {
	return &hub{
		stop: make(chan struct{}), gap: tickGap, recheck: recheckEvery, ping: pingEvery,
		renders: make(chan struct{}, rendersAtOnce), views: map[string]*view{},
	}
}

// refuses says whether no new socket is taken any more.
func (h *hub) refuses() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// show serves a socket that looks at a scene until it is closed.
func (h *hub) show(s scene, t *tab) {
	if !h.join(s, t) {
		message := websocket.FormatCloseMessage(websocket.CloseGoingAway, "shutting down")
		t.conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeWait))
		t.conn.Close()
		return
	}
	defer h.open.Done()
	defer h.leave(t)
	t.serve()
}

func (h *hub) join(s scene, t *tab) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	v := h.views[s.key]
	if v == nil {
		v = newView(h, s)
		h.views[s.key] = v
		h.running.Go(v.run)
	}
	t.view = v
	v.add(t)
	h.open.Add(1)
	v.nudge()
	return true
}

func (h *hub) leave(t *tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.view.remove(t) == 0 && h.views[t.view.scene.key] == t.view {
		delete(h.views, t.view.scene.key)
		close(t.view.empty)
	}
}

// hint says that jobs changed; all means that it is not known which.
func (h *hub) hint(ids []int64, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.views {
		if all || v.scene.concerns(ids) {
			v.nudge()
		}
	}
}

// close refuses new sockets, tells the open ones that the server goes away (1001)
// and waits for them, at most five seconds or until ctx ends; then it cuts them
// and says so.
func (h *hub) close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.eachTab(func(t *tab) { t.end(websocket.CloseGoingAway, "shutting down") })
	gone := make(chan struct{})
	go func() {
		h.open.Wait()
		close(gone)
	}()
	var cut error
	if !ended(ctx, gone, closeSockets) {
		cut = errors.New("web: some live sockets did not close in time and were cut")
		h.eachTab(func(t *tab) { t.conn.Close() })
	}
	close(h.stop)
	h.running.Wait()
	// Cut sockets end at once, unless an access hook hangs in its minute's check.
	ended(context.Background(), gone, time.Second)
	return cut
}

// ended waits for a channel to be closed and says whether it was.
func ended(ctx context.Context, c <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (h *hub) eachTab(do func(*tab)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.views {
		v.each(do)
	}
}
