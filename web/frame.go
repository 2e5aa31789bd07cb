package web

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/gorilla/websocket"
)

// part is a piece of a page as it looks now. The page replaces the element of that
// id unless it holds a newer version.
type part struct {
	ID   string `json:"id"`
	V    int64  `json:"v"`
	HTML string `json:"html"`
}

// frame is one message to a page. A page that sees a gap in Seq, or Reload, fetches
// itself once in full.
type frame struct {
	Seq    int64     `json:"seq"`
	Parts  []part    `json:"parts"`
	News   int       `json:"news"`
	Reload bool      `json:"reload"`
	AsOf   time.Time `json:"asOf"`
}

// frameBytes is where a frame's parts are split over several frames. A single part
// may be larger, and so may frames when there would be more than maxChunks.
const (
	frameBytes = 16 << 10
	maxChunks  = 4
)

// chunk splits parts so that each frame stays small; one empty chunk for no parts.
func chunk(parts []part) [][]part {
	total := 0
	for _, p := range parts {
		total += len(p.HTML) + 64
	}
	limit := max(frameBytes, total/maxChunks)
	chunks, size := [][]part{{}}, 0
	for _, p := range parts {
		last := len(chunks) - 1
		if size += len(p.HTML) + 64; size > limit && len(chunks[last]) > 0 {
			chunks, last, size = append(chunks, []part{}), last+1, len(p.HTML)+64
		}
		chunks[last] = append(chunks[last], p)
	}
	return chunks
}

// prepare encodes a frame once for any number of sockets, compressed once too.
func prepare(f frame) *websocket.PreparedMessage {
	if f.Parts == nil {
		f.Parts = []part{}
	}
	f.AsOf = f.AsOf.UTC()
	// HTML escapes would make six bytes of each angle bracket, for nothing: the page
	// parses the frame as JSON.
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		panic(err) // strings, numbers and a time always encode
	}
	m, err := websocket.NewPreparedMessage(websocket.TextMessage, bytes.TrimSpace(data.Bytes()))
	if err != nil {
		panic(err) // writes to memory only
	}
	return m
}
