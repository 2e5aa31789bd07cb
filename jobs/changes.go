package jobs

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tekrar/tekrar/store"
)

const (
	publishEvery  = 75 * time.Millisecond
	watchedFor    = 30 * time.Second // after a dashboard's last word
	watchAgain    = 10 * time.Second
	maxPayload    = 7000 // Postgres takes 7,999 bytes
	maxChangedIDs = 1000 // beyond, "many" says it better
)

// changes publishes which jobs changed to dashboards in any process: after the
// commit, joined over publishEvery, and only while a dashboard is watching.
type changes struct {
	db  *store.DB
	log *slog.Logger

	mu      sync.Mutex
	until   time.Time // watched until then
	ids     map[int64]struct{}
	many    bool
	pending bool
	idle    *sync.Cond
}

func newChanges(db *store.DB, log *slog.Logger) *changes {
	c := &changes{db: db, log: log, ids: map[int64]struct{}{}}
	c.idle = sync.NewCond(&c.mu)
	return c
}

// watched notes that a dashboard is there.
func (c *changes) watched() {
	c.mu.Lock()
	c.until = time.Now().Add(watchedFor)
	c.mu.Unlock()
}

// add notes changed jobs; it costs next to nothing while nobody watches.
func (c *changes) add(ids ...int64) {
	if len(ids) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().After(c.until) {
		return
	}
	for _, id := range ids {
		if len(c.ids) >= maxChangedIDs {
			c.many = true
			break
		}
		c.ids[id] = struct{}{}
	}
	if !c.pending {
		c.pending = true
		time.AfterFunc(publishEvery, c.publish)
	}
}

func (c *changes) publish() {
	c.mu.Lock()
	payload := "*"
	if !c.many {
		payload = joinIDs(c.ids)
	}
	clear(c.ids)
	c.many = false
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	if err := c.db.NotifyChanges(ctx, payload); err != nil {
		c.log.Debug("changes not published", "err", err)
	}
	cancel()

	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) > 0 || c.many { // more came while this was sent
		time.AfterFunc(publishEvery, c.publish)
		return
	}
	c.pending = false
	c.idle.Broadcast()
}

// wait returns when nothing is left to publish.
func (c *changes) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending {
		c.idle.Wait()
	}
}

func joinIDs(ids map[int64]struct{}) string {
	var b strings.Builder
	for id := range ids {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
		if b.Len() > maxPayload {
			return "*"
		}
	}
	return b.String()
}
