package bench

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/jobs"
)

const (
	tabs      = 20
	pageEvery = 250 * time.Millisecond
)

// what the people look at, each in a tab of their own and by loading it again.
var looked = []string{"/", "/jobs?state=succeeded", "/jobs?state=enqueued", "/jobs?state=processing", "/attempts", "/queues", "/servers"}

// look is a dashboard with people in front of it.
type look struct {
	*site
	stop   context.CancelFunc
	people sync.WaitGroup
	frames atomic.Int64
	failed atomic.Pointer[error]

	mu    sync.Mutex
	pages []time.Duration
}

func (b *bench) lookOn(ctx context.Context, c *jobs.Client) (*look, error) {
	s, err := serve(c)
	if err != nil {
		return nil, err
	}
	l := &look{site: s}
	ctx, l.stop = context.WithCancel(ctx)
	l.people.Go(func() { l.load(ctx, s.host) })
	for i := range tabs {
		l.people.Go(func() { l.watch(ctx, s.host, looked[i%len(looked)]) })
	}
	return l, nil
}

// load asks for one page after the other.
func (l *look) load(ctx context.Context, host string) {
	tick := time.NewTicker(pageEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		if _, err := get("http://" + host + looked[i%len(looked)]); err != nil {
			if ctx.Err() == nil { // else the dashboard has been closed meanwhile
				l.fail(err)
			}
			return
		}
		l.mu.Lock()
		l.pages = append(l.pages, time.Since(began))
		l.mu.Unlock()
	}
}

func get(address string) (string, error) {
	res, err := http.Get(address)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %d", address, res.StatusCode)
	}
	return string(body), nil
}

// watch opens a page and then its socket, as a browser's tab does.
func (l *look) watch(ctx context.Context, host, page string) {
	body, err := get("http://" + host + page)
	if err != nil {
		l.fail(err)
		return
	}
	_, rest, _ := strings.Cut(body, `data-live="`)
	address, _, ok := strings.Cut(rest, `"`)
	if !ok {
		l.fail(fmt.Errorf("page %s names no socket", page))
		return
	}
	conn, _, err := websocket.DefaultDialer.DialContext(ctx, "ws://"+host+html.UnescapeString(address), nil)
	if err != nil {
		l.fail(err)
		return
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			if ctx.Err() == nil {
				l.fail(err)
			}
			return
		}
		l.frames.Add(1)
	}
}

func (l *look) fail(err error) { l.failed.CompareAndSwap(nil, &err) }

// end closes everything and returns how long pages took and how many frames came.
func (l *look) end() (pages []time.Duration, frames int64, err error) {
	l.stop()
	err = l.close()
	l.people.Wait()
	if failed := l.failed.Load(); failed != nil {
		err = errors.Join(*failed, err)
	}
	return l.pages, l.frames.Load(), err
}
