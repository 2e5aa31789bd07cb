package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// drawnAnew is what differs each time a page is drawn although nobody sees a
// difference: the token of the forms, the clock, and relative times, whose moment
// stands beside them and which the page keeps going itself. Everything else counts,
// whatever it is, so that an answer "unchanged" never hides a change. What people
// wrote cannot look like these: quotes and angle brackets are escaped in it.
var drawnAnew = []struct{ from, to string }{
	{` data-token="`, `"`},
	{` name="token" value="`, `"`},
	{` data-now="`, `"`},
	{`<span class="live-w">`, `<`},
	{` data-rel="ago">`, `<`},
	{` data-rel="age">`, `<`},
}

// pageTag is the ETag of a page drawn at a time. It is weak: pages of the same tag
// look the same and differ in bytes. Processes of the same build agree on it.
func pageTag(html []byte, drawn time.Time) string {
	// Parts without a version of their own have the clock's.
	seen := bytes.ReplaceAll(html, []byte(` data-v="`+strconv.FormatInt(drawn.UnixMilli(), 10)+`"`), nil)
	for _, d := range drawnAnew {
		seen = without(seen, []byte(d.from), []byte(d.to))
	}
	sum := sha256.Sum256(seen)
	return `W/"` + hex.EncodeToString(sum[:12]) + `"`
}

// without removes all text that stands between from and the next to.
func without(text, from, to []byte) []byte {
	out := make([]byte, 0, len(text))
	for {
		before, after, ok := bytes.Cut(text, from)
		out = append(out, before...)
		if !ok {
			return out
		}
		out = append(out, from...)
		text = after[max(bytes.Index(after, to), 0):]
	}
}

// unchanged sets the ETag of a page that was found, and reports that the browser has
// the page already. What the answer itself changes in the browser goes with a whole
// page: a new token, or a notice that is said once.
func (r *request) unchanged(html []byte) bool {
	if r.Method() != fiber.MethodGet && r.Method() != fiber.MethodHead {
		return false
	}
	tag := pageTag(html, r.drawn)
	r.Set(fiber.HeaderETag, tag)
	for _, cookie := range []string{tokenCookie, noticeCookie} {
		if len(r.Response().Header.PeekCookie(cookie)) > 0 {
			return false
		}
	}
	return tagAmong(r.Get(fiber.HeaderIfNoneMatch), tag)
}

// tagAmong compares weakly, as a GET does. The request's Cache-Control is not asked:
// the page was drawn just now, and scripts that name a tag send no-cache with it.
func tagAmong(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
