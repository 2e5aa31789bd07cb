package web

import (
	"strings"

	"github.com/tekrar/tekrar/static"
	"github.com/tekrar/tekrar/store"
)

// assetShow serves a static file under the name that carries its content's hash,
// so it may be kept for ever. An old hash is 404, never other content.
func assetShow(r *request) error {
	a, ok := static.ByHashedName(r.Params("name"))
	if !ok {
		return store.ErrNotFound
	}
	r.Set("Content-Type", a.ContentType)
	r.Set("Cache-Control", "public, max-age=31536000, immutable")
	r.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r.Get("Accept-Encoding")) {
		r.Set("Content-Encoding", "gzip")
		return r.Send(a.Gzip)
	}
	return r.Send(a.Bytes)
}

func acceptsGzip(header string) bool {
	for one := range strings.SplitSeq(strings.ToLower(header), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(one, " ", ""), ";")
		if name == "gzip" {
			return quality != "q=0" && !strings.HasPrefix(quality, "q=0.0")
		}
	}
	return false
}
