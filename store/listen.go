package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
)

// pingEvery keeps the listener's silence below the dialer's read timeout and
// finds a dead network.
const pingEvery = 15 * time.Second

// listenAgain is how long a server that refused LISTEN is left alone.
const listenAgain = 5 * time.Second

// JobsHint is a notification for engines. The zero hint means "look now": the
// listener reconnected and may have missed some.
type JobsHint struct {
	Queue    string // jobs were enqueued here
	Taken    bool   // a running job was taken away
	Watching bool   // a dashboard is watching: publish changes
	// Recurring: a recurring job was edited, resumed or removed.
	Recurring bool
	// Awaiting: continuations of Parents were enqueued; no Parents: of many.
	Awaiting bool
	Parents  ParentList
}

// ListenJobs calls on for each hint until ctx ends; up tells when notifications
// begin to arrive (a pooler takes LISTEN and delivers none) and when the connection
// goes. A hint is only a hint: who polls misses nothing.
func (db *DB) ListenJobs(ctx context.Context, up func(bool), on func(JobsHint)) {
	db.listen(ctx, db.jobsChannel(), up, func(payload string) {
		switch {
		case strings.HasPrefix(payload, "q"):
			on(JobsHint{Queue: payload[1:]})
		case payload == "c":
			on(JobsHint{Taken: true})
		case payload == "w":
			on(JobsHint{Watching: true})
		case payload == "r":
			on(JobsHint{Recurring: true})
		case strings.HasPrefix(payload, "a"):
			on(JobsHint{Awaiting: true, Parents: ParentList(payload[1:])})
		default:
			on(JobsHint{})
		}
	})
}

// Change is a notification for dashboards: ids that changed, or All for many or
// unknown ones.
type Change struct {
	IDs []int64
	All bool
}

// ListenChanges calls on for each change until ctx ends.
func (db *DB) ListenChanges(ctx context.Context, up func(bool), on func(Change)) {
	db.listen(ctx, db.changesChannel(), up, func(payload string) {
		var c Change
		for _, word := range strings.Split(payload, ",") {
			id, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				c = Change{All: true}
				break
			}
			c.IDs = append(c.IDs, id)
		}
		on(c)
	})
}

// listen owns one LISTEN connection. Listen blocks while the server is down, so
// it runs apart; notifications are always drained.
func (db *DB) listen(ctx context.Context, channel string, up func(bool), on func(payload string)) {
	ctx, cancel := context.WithCancel(ctx)
	heard := newProbe(db, channel)
	l := db.Listener(200*time.Millisecond, 10*time.Second, func(e pq.ListenerEventType, _ error) {
		if e == pq.ListenerEventConnected || e == pq.ListenerEventReconnected {
			heard.doubt()
		} else if heard.lose() {
			up(false)
		}
	})
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		// A replica refuses LISTEN, and lib/pq then forgets the channel: after a
		// promotion the same connection would stay deaf.
		for l.Listen(channel) != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(listenAgain):
			}
		}
	}()
	ping := time.NewTicker(pingEvery)
	defer func() {
		ping.Stop()
		_ = l.Close()
		<-listening
	}()
	pinged := make(chan struct{}, 1)
	pinged <- struct{}{}
	var probing sync.WaitGroup
	probing.Go(func() { heard.run(ctx) })
	defer func() { cancel(); probing.Wait() }()
	for {
		select {
		case <-ctx.Done():
			return
		case n, ok := <-l.Notify:
			switch {
			case !ok:
				return
			case n == nil: // reconnected
				on("")
			case isProbe(n.Extra):
				if heard.hears(n.Extra) {
					up(true)
				}
			default:
				on(n.Extra)
			}
		case <-ping.C:
			select {
			case <-pinged:
				go func() { _ = l.Ping(); pinged <- struct{}{} }()
			default: // the last ping still waits for the network
			}
		}
	}
}
