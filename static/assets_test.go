package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// The budgets of the design, in bytes.
const (
	ownScriptBudget = 12 << 10 // raw
	scriptsBudget   = 20 << 10 // gzip, all
	styleBudget     = 12 << 10 // gzip
)

func TestBudgets(t *testing.T) {
	t.Parallel()
	scripts := 0
	for _, a := range Assets() {
		switch {
		case strings.HasSuffix(a.Name, ".js"):
			scripts += len(a.Gzip)
		case strings.HasSuffix(a.Name, ".css") && len(a.Gzip) > styleBudget:
			t.Errorf("%s: %d bytes compressed, budget %d", a.Name, len(a.Gzip), styleBudget)
		}
		if a.Name == "app.js" && len(a.Bytes) > ownScriptBudget {
			t.Errorf("app.js: %d bytes, budget %d", len(a.Bytes), ownScriptBudget)
		}
	}
	if scripts == 0 || scripts > scriptsBudget {
		t.Errorf("scripts: %d bytes compressed, budget %d", scripts, scriptsBudget)
	}
}

func TestAssetsAreHashedAndCompressed(t *testing.T) {
	t.Parallel()
	for _, a := range Assets() {
		sum := sha256.Sum256(a.Bytes)
		if want := hex.EncodeToString(sum[:]); a.SHA256 != want || !strings.Contains(a.HashedName, "."+want[:12]+".") {
			t.Errorf("%s: hash %s, name %s, want %s", a.Name, a.SHA256, a.HashedName, want)
		}
		r, err := gzip.NewReader(bytes.NewReader(a.Gzip))
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		if back, err := io.ReadAll(r); err != nil || !bytes.Equal(back, a.Bytes) {
			t.Errorf("%s: does not decompress to itself: %v", a.Name, err)
		}
		if got, ok := ByHashedName(a.HashedName); !ok || got.Name != a.Name {
			t.Errorf("%s: not found by %s", a.Name, a.HashedName)
		}
		if Names()[a.Name] != a.HashedName {
			t.Errorf("%s: Names has %q", a.Name, Names()[a.Name])
		}
	}
	if _, ok := ByHashedName("app.js"); ok {
		t.Error("app.js is served under its plain name; it could be cached for ever")
	}
}

// A stylesheet that no part of an asset names would be embedded and never seen.
func TestEveryStyleAndScriptIsServed(t *testing.T) {
	t.Parallel()
	served := map[string]bool{}
	for _, f := range files {
		for _, part := range f.parts {
			served[part] = true
		}
	}
	found, err := fs.Glob(FS, "*.*s")
	if err != nil || len(found) < 4 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, name := range found {
		if !served[name] {
			t.Errorf("%s is not served", name)
		}
	}
}

func TestVendoredFilesMatchTheManifest(t *testing.T) {
	t.Parallel()
	raw, err := FS.ReadFile("vendor/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ File, Name, Version, Source, License, LicenseFile, SHA256 string }
	if err := json.Unmarshal(raw, &entries); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"manifest.json": true}
	for _, e := range entries {
		body, err := FS.ReadFile("vendor/" + e.File)
		if err != nil {
			t.Errorf("%s: %v", e.File, err)
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != e.SHA256 {
			t.Errorf("%s: content is not that of %s %s", e.File, e.Name, e.Version)
		}
		if _, err := FS.ReadFile("vendor/" + e.LicenseFile); err != nil || e.Name == "" || e.Version == "" || e.License == "" || e.Source == "" {
			t.Errorf("%s: the manifest is incomplete: %+v, %v", e.File, e, err)
		}
		known[e.File], known[e.LicenseFile] = true, true
	}
	files, err := fs.ReadDir(FS, "vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("vendor/%s is not in the manifest", f.Name())
		}
	}
}

func TestNothingIsFetchedFromElsewhere(t *testing.T) {
	t.Parallel()
	outside := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]{2,}|@import|@font-face|\beval\(|new Function`)
	for _, a := range Assets() {
		if a.Name != "app.css" && a.Name != "app.js" {
			continue
		}
		if m := outside.Find(a.Bytes); m != nil {
			t.Errorf("%s: %q", a.Name, m)
		}
	}
}

// The stylesheet states the design's colours; a slip in one theme would show nowhere else.
func TestThemesHaveTheDesignsColours(t *testing.T) {
	t.Parallel()
	body, err := FS.ReadFile("app.css")
	if err != nil {
		t.Fatal(err)
	}
	css := string(body)
	light := css[:strings.Index(css, "@media screen and (prefers-color-scheme: dark)")]
	rest := css[len(light):]
	chosen := strings.Index(rest, ":root[data-theme=dark]")
	dark := map[string]string{"by preference": rest[:chosen], "chosen": rest[chosen:strings.Index(rest, "/* Ground")]}
	colours := []struct{ name, light, dark string }{
		{"enqueued", "#475569", "#94a3b8"}, {"scheduled", "#4338ca", "#a5b4fc"}, {"processing", "#1d4ed8", "#93c5fd"},
		{"succeeded", "#15803d", "#4ade80"}, {"retrying", "#854d0e", "#facc15"}, {"failed", "#b91c1c", "#fca5a5"}, {"deleted", "#57534e", "#a8a29e"},
		{"a1", "#2f855a", "#3f9d6f"}, {"a2", "#b7791f", "#d69e2e"}, {"a3", "#c05621", "#ed8936"}, {"a4", "#9b2c2c", "#f56565"}, {"ax", "#4a1d1d", "#feb2b2"},
	}
	for _, c := range colours {
		if !strings.Contains(light, "--"+c.name+": "+c.light+";") {
			t.Errorf("light: --%s is not %s", c.name, c.light)
		}
		for theme, block := range dark {
			if !strings.Contains(block, "--"+c.name+": "+c.dark+";") {
				t.Errorf("dark %s: --%s is not %s", theme, c.name, c.dark)
			}
		}
	}
}

// Words of the stylesheet would be in one language only.
func TestStylesheetSaysNothing(t *testing.T) {
	t.Parallel()
	words := regexp.MustCompile(`content:[^;}"]*"[^"]*\pL{2}[^"]*"`)
	for _, a := range Assets() {
		if found := words.FindString(string(a.Bytes)); found != "" && strings.HasSuffix(a.HashedName, ".css") {
			t.Errorf("%s: %s", a.HashedName, found)
		}
	}
}
