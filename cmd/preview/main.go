// Preview draws every page of the dashboard from fixtures, without a database.
//
//	go run ./cmd/preview              serves them on 127.0.0.1, a free port
//	go run ./cmd/preview -out folder  writes them as files
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/tekrar/tekrar/static"
	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/fixtures"
	"github.com/tekrar/tekrar/views/locale"
)

// policy is the dashboard's content policy, so that a breach shows here first.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"

func main() {
	out := flag.String("out", "", "write the pages into this folder instead of serving them")
	addr := flag.String("addr", "127.0.0.1:0", "loopback address to serve on")
	var k look
	flag.StringVar(&k.theme, "theme", "", "light or dark; empty: as the browser prefers")
	flag.StringVar(&k.language, "language", "", "en or tr; empty: en")
	flag.StringVar(&k.zone, "zone", "", "such as Europe/Istanbul; empty: UTC")
	flag.Parse()
	var err error
	if *out != "" {
		err = write(*out, k)
	} else {
		err = serve(*addr, k)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "preview:", err)
		os.Exit(1)
	}
}

// look is what a person may choose for their browser. The server's addresses take it,
// too: /index.html?language=tr&theme=dark.
type look struct{ theme, language, zone string }

func draw(p fixtures.Page, k look) ([]byte, error) {
	reader, err := locale.New(k.language, k.zone)
	if err != nil {
		return nil, err
	}
	l := fixtures.Layout(views.Links{Assets: static.Names()})
	l.Theme, l.Locale = k.theme, reader
	var b bytes.Buffer
	if err := p.Draw(l).Render(context.Background(), &b); err != nil {
		return nil, fmt.Errorf("draw %s: %w", p.Name, err)
	}
	return b.Bytes(), nil
}

func write(dir string, k look) error {
	if err := os.MkdirAll(filepath.Join(dir, "static"), 0o755); err != nil {
		return err
	}
	for _, a := range static.Assets() {
		if err := os.WriteFile(filepath.Join(dir, "static", a.HashedName), a.Bytes, 0o644); err != nil {
			return err
		}
	}
	for _, p := range fixtures.Pages() {
		html, err := draw(p, k)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, p.Name+".html"), html, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func serve(addr string, k look) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if !ln.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return fmt.Errorf("-addr %s: preview listens on loopback only", addr)
	}
	fmt.Printf("http://%s/ and the pages\n", ln.Addr())
	for _, p := range fixtures.Pages() {
		fmt.Println("  /" + p.Name + ".html")
	}
	return http.Serve(ln, handler(k))
}

func handler(k look) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		if a, ok := static.ByHashedName(strings.TrimPrefix(r.URL.Path, "/static/")); ok {
			w.Header().Set("Content-Type", a.ContentType)
			_, _ = w.Write(a.Bytes)
			return
		}
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".html")
		if name == "" {
			name = "index"
		}
		for _, p := range fixtures.Pages() {
			if p.Name == name {
				answer(w, r, p, k)
				return
			}
		}
		http.NotFound(w, r)
	})
}

func answer(w http.ResponseWriter, r *http.Request, p fixtures.Page, k look) {
	q := r.URL.Query()
	k = look{cmp.Or(q.Get("theme"), k.theme), cmp.Or(q.Get("language"), k.language), cmp.Or(q.Get("zone"), k.zone)}
	html, err := draw(p, k)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(html)
}
