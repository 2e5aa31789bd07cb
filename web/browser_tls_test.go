package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// front is a proxy with TLS before the dashboard, as it stands in production. It names
// the user, and lets sockets through or not.
func front(t *testing.T, x *site, sockets bool) (address string, upgrades *atomic.Int64) {
	t.Helper()
	upgrades = new(atomic.Int64)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: x.host})
		r.SetXForwarded()
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-Remote-User", "ada")
	}}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			if upgrades.Add(1); !sockets {
				http.Error(w, "no sockets here", http.StatusForbidden)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, upgrades
}

// LIV-02: behind TLS and under a prefix the socket is wss and carries the prefix; where
// a proxy refuses sockets, the page asks for itself and says so.
func TestLIV02BehindTLS(t *testing.T) {
	t.Parallel()
	for mode, sockets := range map[string]bool{"live": true, "polling": false} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			x := open(t, settings{prefix: "/ops/jobs", options: web.Options{Access: proxied(t, "127.0.0.1/32", "")}})
			address, upgrades := front(t, x, sockets)
			id := x.enqueue(note{Text: "n"})
			b := openBrowser(t)
			b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
				_, err := cdp.Call(ctx, tab, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
				return err
			}))
			b.first(`
				const Real = WebSocket;
				window.opened = [];
				window.WebSocket = class extends Real { constructor(u) { super(u); opened.push(this.url); } };
				const every = setInterval;
				window.setInterval = (f, ms) => every(f, ms === 15000 ? 150 : ms);`)
			b.visit(address + "/ops/jobs/jobs?state=enqueued")
			b.until(fmt.Sprintf(`document.querySelector("#live").dataset.mode === %q`, mode))
			b.must(`opened.length > 0 && opened.every((u) => u.startsWith("wss://" + location.host + "/ops/jobs/"))`)
			x.work()
			x.until("the job is done", func() bool { return x.state(id) == store.Succeeded })
			b.until(fmt.Sprintf(`document.querySelector("#job-row-%d").classList.contains("gone")`, id))
			b.must(fmt.Sprintf(`document.querySelector("#live").dataset.mode === %q`, mode))
			if upgrades.Load() == 0 {
				t.Error("no socket was asked for")
			}
		})
	}
}

// LIV-02: an idle socket carries something more often than proxies cut, at 30 seconds
// and more.
func TestLIV02IdleSocketsArePinged(t *testing.T) {
	t.Parallel()
	if web.PingEvery >= 30*time.Second {
		t.Errorf("pinged every %s", web.PingEvery)
	}
	x := open(t, settings{options: web.Options{Access: web.None()}})
	x.dash.Ping(20 * time.Millisecond)
	c, _, err := x.dial("/live?view=%2Fservers", http.Header{"Origin": {"http://" + x.host}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pings := 0
	enough := errors.New("enough")
	c.SetPingHandler(func(string) error {
		if pings++; pings == 3 {
			return enough
		}
		return c.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
	})
	for err == nil {
		_, err = read(t, c)
	}
	if !errors.Is(err, enough) {
		t.Errorf("%d pings, then %v", pings, err)
	}
}
