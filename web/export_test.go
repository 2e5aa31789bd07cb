package web

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Route is a row of the table, for tests that walk all of them.
type Route struct{ Method, Path string }

func Routes() (out []Route) {
	for _, r := range routes {
		out = append(out, Route{r.method, r.path})
	}
	return out
}

var (
	CleanPrefix = cleanPrefix
	Ranges      = ranges
	Expand      = expand
	Harmless    = harmless
	DiffArgs    = diffArgs
	DiffLines   = diffLines
	PageTag     = pageTag
)

// Upgrade is the bridge alone.
var Upgrade = upgrade

// TestHub is a hub whose scenes are functions of a test.
type TestHub struct{ hub *hub }

func NewTestHub(gap time.Duration) *TestHub {
	h := newHub()
	h.gap = gap
	return &TestHub{h}
}

// Show serves a socket of a scene whose one part, "p", is what text says.
func (h *TestHub) Show(conn *websocket.Conn, key string, text func() (string, error), looks *atomic.Int64) {
	s := scene{key: key, look: func(context.Context) (picture, error) {
		looks.Add(1)
		now, err := text()
		return picture{now: time.Now(), pieces: []piece{{id: "p", draw: func(time.Time, int64) (string, error) {
			return now, nil
		}}}}, err
	}}
	h.hub.show(s, newTab(conn, func() bool { return true }, nil))
}

func (h *TestHub) Hint()                           { h.hub.hint([]int64{1}, true) }
func (h *TestHub) Close(ctx context.Context) error { return h.hub.close(ctx) }

// SmallBuffer makes a slow reader felt after kilobytes instead of megabytes.
func SmallBuffer(conn *websocket.Conn) {
	conn.NetConn().(*takenConn).Conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
}

// PingEvery is how often an open socket is pinged.
const PingEvery = pingEvery

// Ping shortens that time.
func (d *Dashboard) Ping(every time.Duration) { d.hub.ping = every }

// RecheckEvery shortens the minute after which open sockets ask for access again.
func (d *Dashboard) RecheckEvery(every time.Duration) { d.hub.recheck = every }
