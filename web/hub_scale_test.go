package web_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tekrar/tekrar/web"
)

// 500 tabs on 20 views under a thousand changes a second: each distinct view is
// looked at and drawn once a tick, whatever the number of its tabs, and all tabs
// of a view see the same, the last state included.
func TestManyTabsOneDrawAView(t *testing.T) {
	t.Parallel()
	const tabs, views, gap = 500, 20, 100 * time.Millisecond
	hub := web.NewTestHub(gap)
	defer hub.Close(context.Background())
	var next, state atomic.Int64
	var looks [views]atomic.Int64
	host := bridged(t, &websocket.Upgrader{}, func(c *websocket.Conn) {
		v := next.Add(1) % views
		hub.Show(c, fmt.Sprint("view ", v), func() (string, error) { return fmt.Sprint(state.Load()), nil }, &looks[v])
	})
	const last = 1000
	var open, seen sync.WaitGroup
	for range tabs {
		open.Add(1)
		seen.Go(func() {
			c, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/ws", nil)
			if err == nil {
				defer c.Close()
				_, err = read(t, c)
			}
			open.Done()
			for html := ""; err == nil && html != fmt.Sprint(last); {
				var f frame
				if f, err = read(t, c); len(f.Parts) > 0 {
					html = f.Parts[0].HTML
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	open.Wait()
	var before [views]int64
	for v := range looks {
		before[v] = looks[v].Load()
	}
	began := time.Now()
	tick := time.NewTicker(time.Millisecond)
	for range last {
		<-tick.C
		state.Add(1)
		hub.Hint()
	}
	tick.Stop()
	seen.Wait()
	most := int64(time.Since(began)/gap) + 2
	for v := range looks {
		if n := looks[v].Load() - before[v]; n > most || n < 2 {
			t.Errorf("view %d was looked at %d times, at most %d were due", v, n, most)
		}
	}
}
