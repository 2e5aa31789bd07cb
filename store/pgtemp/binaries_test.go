//go:build linux || darwin

package pgtemp

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fake writes an installation that prints a version.
func fake(t *testing.T, dir string, version string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
		script := fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s'\n", version)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFinderTakesTheHighestUsefulVersion(t *testing.T) {
	root := t.TempDir()
	for _, v := range []string{"13.4", "15.1", "18beta1", "16.2"} {
		fake(t, filepath.Join(root, v, "bin"), v)
	}
	t.Setenv("PATH", fake(t, filepath.Join(root, "path"), "14.0")+":/bin:/usr/bin")
	f := finder{folders: []string{root + "/*/bin"}}
	b, err := f.find(t.Context(), root)
	if err != nil || b.major != 18 {
		t.Fatalf("%+v, %v", b, err)
	}
	// Data of an older version is not left behind while its binaries are there.
	if err := os.MkdirAll(dataDir(root, 15), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dataDir(root, 15), "PG_VERSION"), []byte("15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := f.find(t.Context(), root); err != nil || b.major != 15 {
		t.Fatalf("%+v, %v", b, err)
	}
	t.Setenv("TEKRAR_POSTGRES_BIN", filepath.Join(root, "16.2", "bin"))
	if b, err := f.find(t.Context(), root); err != nil || b.major != 16 {
		t.Fatalf("%+v, %v", b, err)
	}
	for dir, want := range map[string]string{"13.4/bin": "14 or newer", "nowhere": "no initdb in"} {
		t.Setenv("TEKRAR_POSTGRES_BIN", filepath.Join(root, dir))
		if _, err := f.find(t.Context(), root); err == nil || !strings.Contains(err.Error(), "TEKRAR_POSTGRES_BIN: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", dir, err, want)
		}
	}
}

func TestDownloadUnpacksIntoTheCacheAndStartsNothing(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	jar := jarOf(t, "18.3")
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".jar") {
			http.NotFound(w, r)
			return
		}
		asked++
		w.Write(jar)
	}))
	defer srv.Close()
	f := finder{cache: filepath.Join(t.TempDir(), "cache"), repository: srv.URL}
	for range 2 {
		b, err := f.find(t.Context(), t.TempDir())
		if err != nil || b.major != 18 || !strings.HasPrefix(b.dir, f.cache) {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	if asked != 1 {
		t.Errorf("fetched %d times", asked)
	}
	if left, _ := filepath.Glob(f.cache + "/partial-*"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// jarOf packs a fake installation the way the Maven repository does.
func jarOf(t *testing.T, version string) []byte {
	t.Helper()
	root := t.TempDir()
	fake(t, filepath.Join(root, "bin"), version)
	cmd := exec.Command("/bin/sh", "-c", "PATH=/bin:/usr/bin tar -cJf pg.txz bin")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no tar with xz here: %s", out)
	}
	txz, err := os.ReadFile(filepath.Join(root, "pg.txz"))
	if err != nil {
		t.Fatal(err)
	}
	var jar bytes.Buffer
	z := zip.NewWriter(&jar)
	w, err := z.Create("postgres-linux.txz")
	if err == nil {
		_, err = w.Write(txz)
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return jar.Bytes()
}

func TestWithoutPostgresTheThreeWaysAreNamed(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	_, err := finder{cache: t.TempDir(), repository: srv.URL}.find(t.Context(), t.TempDir())
	for _, want := range []string{"DATABASE_URL", "TEKRAR_POSTGRES_BIN", "download", "apt install postgresql", srv.URL} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/x/y")
	want := "/x/y/tekrar"
	if os.Geteuid() == 0 {
		want = "/var/lib/tekrar"
	}
	if got := DefaultDir(); got != want {
		t.Fatal(got)
	}
}
