package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"sync"
)

// Asset is one file ready to be served for ever: its name changes with its content.
type Asset struct {
	Name        string // "app.js"
	HashedName  string // "app.0123456789ab.js"
	ContentType string // from an own table, never from the machine's
	SHA256      string // hex, of Bytes
	Bytes       []byte
	Gzip        []byte // Bytes, compressed
}

// files lists what is served, each from its parts in this order. Licences and
// manifests stay in the binary only.
var files = []struct {
	name, contentType string
	parts             []string
}{
	{"app.css", "text/css; charset=utf-8", []string{"app.css", "pages.css", "screens.css"}},
	{"app.js", "text/javascript; charset=utf-8", []string{"app.js"}},
	{"idiomorph.js", "text/javascript; charset=utf-8", []string{"vendor/idiomorph.min.js"}},
	{"favicon.svg", "image/svg+xml", nil},
}

// favicon is small enough to live here; the mark is the one of the top bar.
const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#1d4ed8" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M13.5 8A5.5 5.5 0 1 1 8 2.5h3.5"/><path d="M9.3.5l2.2 2-2.2 2"/></svg>`

// Assets reads, hashes and compresses the files, once a process. Callers must
// not change what they are given.
var Assets = sync.OnceValue(func() []Asset {
	out := make([]Asset, 0, len(files))
	for _, f := range files {
		var body []byte
		for _, part := range f.parts {
			text, err := FS.ReadFile(part)
			if err != nil {
				panic(err) // the file is embedded; only a wrong table can fail
			}
			body = append(body, text...)
		}
		if f.parts == nil {
			body = []byte(favicon)
		}
		sum := sha256.Sum256(body)
		hash := hex.EncodeToString(sum[:])
		ext := path.Ext(f.name)
		out = append(out, Asset{
			Name: f.name, HashedName: strings.TrimSuffix(f.name, ext) + "." + hash[:12] + ext,
			ContentType: f.contentType, SHA256: hash, Bytes: body, Gzip: compress(body),
		})
	}
	return out
})

// Names maps plain names to hashed ones, as views.Links wants them.
func Names() map[string]string {
	m := make(map[string]string, len(files))
	for _, a := range Assets() {
		m[a.Name] = a.HashedName
	}
	return m
}

// ByHashedName finds an asset by the last segment of its address.
func ByHashedName(name string) (Asset, bool) {
	for _, a := range Assets() {
		if a.HashedName == name {
			return a, true
		}
	}
	return Asset{}, false
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(body)                                  // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
