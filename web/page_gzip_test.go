package web_test

import (
	"compress/gzip"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/web"
)

// A list of 50 rows travels compressed to a browser whose person or whose own page
// asked for it, and as it is to everybody else, because another site may have chosen
// the words in its address.
func TestPagesAreCompressedForOurOwnPagesOnly(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None()}})
	for range 50 {
		x.enqueue(note{Text: "n"})
	}
	ask := func(path string, form url.Values, site, accepts string) answer {
		h := holding("")
		h["Accept-Encoding"] = accepts
		if site != "" {
			h["Sec-Fetch-Site"] = site
		}
		method := "GET"
		if form != nil {
			method = "POST"
		}
		return x.do(method, path, form, h)
	}
	whole := ask("/jobs", nil, "same-origin", "identity").wants(t, 200, "</html>")
	for _, site := range []string{"same-origin", "none"} {
		a := ask("/jobs", nil, site, "br, gzip").wants(t, 200)
		if a.Header.Get("Content-Encoding") != "gzip" || a.Header.Get("ETag") != whole.Header.Get("ETag") || !strings.Contains(a.Header.Get("Vary"), "Accept-Encoding, Accept-Language, Sec-Fetch-Site") {
			t.Errorf("%s: headers %v", site, a.Header)
		}
		text := unzip(t, a.body)
		if len(text) < len(whole.body)-100 || !strings.HasSuffix(text, "</html>") {
			t.Errorf("%s: %d bytes, as it is %d", site, len(text), len(whole.body))
		}
		t.Logf("50 rows: %d bytes, compressed %d", len(whole.body), len(a.body))
		if len(a.body) > 15<<10 {
			t.Errorf("%d bytes, budget 15 KB", len(a.body))
		}
	}
	for _, site := range []string{"", "cross-site", "same-site"} {
		if a := ask("/jobs?q=guess", nil, site, "gzip"); a.Header.Get("Content-Encoding") != "" || !strings.HasSuffix(a.body, "</html>") {
			t.Errorf("%q: headers %v", site, a.Header)
		}
	}
	if a := ask("/jobs", nil, "same-origin", "gzip;q=0"); a.Header.Get("Content-Encoding") != "" {
		t.Error("compressed for somebody who refuses it")
	}
	refused := ask("/jobs?size=7", nil, "same-origin", "gzip").wants(t, 400)
	if !strings.Contains(unzip(t, refused.body), "Unknown filter") {
		t.Error("an error page does not unpack")
	}
	for _, path := range []string{"/jobs/export?format=csv", "/api/jobs"} {
		if a := ask(path, nil, "same-origin", "gzip"); a.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed", path)
		}
	}
}

func unzip(t *testing.T, text string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
