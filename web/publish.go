package web

import (
	"hash/maphash"
	"time"

	"github.com/gorilla/websocket"
)

// publish sends what changed since the last look to every socket, and to a socket
// that joined since then all that its page may not have.
func (v *view) publish(p picture) {
	current := drawer{now: p.now, done: map[string]part{}}
	var changed []part
	for _, pc := range p.pieces {
		sum, err := v.sum(pc, p.now)
		if err != nil {
			return
		}
		if old, seen := v.drawn[pc.id]; seen && old == sum {
			continue
		}
		v.drawn[pc.id] = sum
		changed = append(changed, current.part(pc))
	}
	var diff []*websocket.PreparedMessage
	if len(changed) > 0 || p.news != v.news || time.Since(v.sent) > quietFor {
		v.news, v.sent = p.news, time.Now()
		for _, c := range chunk(changed) {
			v.seq++
			diff = append(diff, prepare(frame{Seq: v.seq, Parts: c, News: p.news, AsOf: p.now}))
		}
	}
	v.each(func(t *tab) {
		if t.takeFresh() {
			t.send(v.first(p, &current, t.known), v.reload)
		} else if len(diff) > 0 {
			t.send(diff, v.reload)
		}
	})
}

// first are the frames of a late joiner. They end at the sequence number that the
// other sockets are at, so that the next frame follows for all of them.
func (v *view) first(p picture, current *drawer, known map[string]int64) []*websocket.PreparedMessage {
	var parts []part
	for _, pc := range p.pieces {
		if at, ok := known[pc.id]; !ok || at != pc.v {
			parts = append(parts, current.part(pc))
		}
	}
	chunks := chunk(parts)
	messages := make([]*websocket.PreparedMessage, 0, len(chunks))
	for i, c := range chunks {
		seq := v.seq - int64(len(chunks)-1-i)
		messages = append(messages, prepare(frame{Seq: seq, Parts: c, News: p.news, AsOf: p.now}))
	}
	return messages
}

// sum tells whether a part looks different. Relative times ("3 s ago") are words
// of the moment that the page keeps going itself, so all looks within a minute are
// compared as of the same instant.
func (v *view) sum(pc piece, now time.Time) (uint64, error) {
	at := v.born
	if pc.v == 0 {
		at = now.Truncate(time.Minute)
	}
	html, err := pc.draw(at, 1)
	return maphash.String(v.seed, html), err
}

// drawer draws each part at most once a look.
type drawer struct {
	now  time.Time
	done map[string]part
}

func (d *drawer) part(pc piece) part {
	if p, ok := d.done[pc.id]; ok {
		return p
	}
	version := pc.v
	if version == 0 {
		version = d.now.UnixMilli()
	}
	html, err := pc.draw(d.now, version)
	if err != nil {
		html = ""
	}
	p := part{ID: pc.id, V: version, HTML: html}
	d.done[pc.id] = p
	return p
}

// takeFresh says, once, that the socket has had no frame yet.
func (t *tab) takeFresh() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.fresh
	t.fresh = false
	return fresh
}
