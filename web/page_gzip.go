package web

import (
	"bytes"
	"compress/gzip"
	"sync"

	"github.com/gofiber/fiber/v2"
)

// gzipFrom is where compressing starts to pay.
const gzipFrom = 1 << 10

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, 5) // the level is a valid one
	return w
}}

// mayCompress: a compressed length tells who listens on the wire which of the words
// they had put into an address stand elsewhere on the page, too (BREACH). So a page
// is compressed only for a browser that says that its own pages or the person asked
// for it (Sec-Fetch-Site), which no other site can make it say. The forms' token,
// the one secret of ours on a page, decides only for browsers that do not send that
// header, and those get it as it is.
func (r *request) mayCompress() bool {
	site := r.Get("Sec-Fetch-Site")
	return (site == "same-origin" || site == "none") && acceptsGzip(r.Get(fiber.HeaderAcceptEncoding))
}

// sendPage sends HTML, compressed where that is safe.
func (r *request) sendPage(html []byte) error {
	if len(html) < gzipFrom || !r.mayCompress() {
		return r.Send(html)
	}
	var b bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	w.Reset(&b)
	if _, err := w.Write(html); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	r.Set(fiber.HeaderContentEncoding, "gzip")
	return r.Send(b.Bytes())
}
