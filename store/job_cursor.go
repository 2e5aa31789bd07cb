package store

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// ErrBadCursor: a page cursor that no list of ours gave out, or that belongs to
// the list of another state (400).
var ErrBadCursor = errors.New("bad page cursor")

// Cursor is a place in a job list: the page after it starts behind the row it
// was taken from, also when that row has left the list since. It belongs to one
// state and holds under any filter. The zero value is the start of the list.
type Cursor struct {
	state State
	at    int64 // microseconds since 1970; unused by the lists of finished jobs
	id    int64 // job id; for finished jobs the id of the history row
}

// The years a cursor may name. Postgres refuses others as a server error (22008),
// which must not become the answer to a forged address.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

const cursorBytes = 17

// IsZero reports whether c is the start of a list; as an answer of Jobs it says
// that there is no further page.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// String is what ParseCursor reads: safe in a URL, without meaning to others,
// empty for the zero value.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	b := make([]byte, 1, cursorBytes)
	b[0] = byte(c.state)
	b = binary.BigEndian.AppendUint64(b, uint64(c.at))
	b = binary.BigEndian.AppendUint64(b, uint64(c.id))
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads what String wrote; the empty text is the start of a list.
// Anything else is ErrBadCursor.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != cursorBytes {
		return Cursor{}, ErrBadCursor
	}
	c := Cursor{
		state: State(int8(b[0])),
		at:    int64(binary.BigEndian.Uint64(b[1:9])),
		id:    int64(binary.BigEndian.Uint64(b[9:])),
	}
	if !slices.Contains(States, c.state) || c.id <= 0 ||
		c.at < firstTime.UnixMicro() || c.at > lastTime.UnixMicro() {
		return Cursor{}, ErrBadCursor
	}
	return c, nil
}

// after gives the values a page of state starts behind.
func (c Cursor) after(state State) (at time.Time, id int64, err error) {
	if c.IsZero() {
		if newestFirst(state) {
			return lastTime, math.MaxInt64, nil
		}
		return firstTime, 0, nil
	}
	if c.state != state {
		return at, 0, ErrBadCursor
	}
	return time.UnixMicro(c.at).UTC(), c.id, nil
}

func newestFirst(s State) bool { return s == Failed || s == Succeeded || s == Deleted }

func cursorAt(r JobRow) Cursor {
	switch r.State {
	case Succeeded, Deleted:
		return Cursor{state: r.State, id: r.HistoryID}
	case Scheduled:
		return Cursor{state: r.State, at: r.RunAt.UnixMicro(), id: r.ID}
	default:
		return Cursor{state: r.State, at: r.Since.UnixMicro(), id: r.ID}
	}
}
