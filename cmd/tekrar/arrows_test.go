package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tekrar/tekrar"

// below says which rooms a room may import besides itself: imports only point down.
var below = map[string][]string{
	"cmd":        {"web", "jobs", "store", "migrations", "views", "static"},
	"web":        {"jobs", "store", "migrations", "views", "static"},
	"jobs":       {"store", "migrations"},
	"store":      {"migrations"},
	"views":      {},
	"static":     {},
	"migrations": {},
}

// listed is what the tests here need of `go list -json`.
type listed struct {
	ImportPath, Dir, Export                string
	GoFiles                                []string
	Imports, Deps, TestImports, ForTest    []string
	Standard                               bool
	XTestGoFiles, XTestImports, CgoGoFiles []string
	ImportMap                              map[string]string // import as written to the variant that is meant
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,ImportMap,Imports,Deps,TestImports,Standard"}, args...)...)
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// room is the top folder of one of our packages, "" for anybody else's.
func room(path string) string {
	rest, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return ""
	}
	top, _, _ := strings.Cut(rest, "/")
	return top
}

// upward lists the imports of one package that its room forbids.
func upward(p listed) []string {
	var bad []string
	from := room(p.ImportPath)
	allowed, known := below[from]
	if !known {
		return []string{p.ImportPath + " is in no room: house rules know " + from + " not"}
	}
	// A package's own tests obey too. External ones (package x_test) may look at the
	// whole house: examples show jobs and web together.
	for _, to := range slices.Concat(p.Imports, p.TestImports) {
		r := room(to)
		if r != "" && r != from && !slices.Contains(allowed, r) {
			bad = append(bad, p.ImportPath+" imports "+to)
		}
	}
	return bad
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	packages := goList(t, "./...")
	if len(packages) < 5 {
		t.Fatalf("go list found %d packages: the walk is broken", len(packages))
	}
	for _, p := range packages {
		for _, bad := range upward(p) {
			t.Error(bad)
		}
	}
}

func TestUpwardImportIsCaught(t *testing.T) {
	t.Parallel()
	for _, p := range []listed{
		{ImportPath: module + "/store", Imports: []string{module + "/jobs"}},
		{ImportPath: module + "/jobs", Imports: []string{module + "/web"}},
		{ImportPath: module + "/jobs", TestImports: []string{module + "/web"}},
		{ImportPath: module + "/views", Imports: []string{module + "/store"}},
		{ImportPath: module + "/web", Imports: []string{module + "/cmd/tekrar/bookstore"}},
		{ImportPath: module + "/util"},
	} {
		if len(upward(p)) == 0 {
			t.Errorf("%s importing %v %v was not caught", p.ImportPath, p.Imports, p.TestImports)
		}
	}
}

// A program that only runs jobs must not carry a web server, nor one that only
// reads the store a template engine.
func TestJobsNeverLinksFiber(t *testing.T) {
	t.Parallel()
	heavy := []string{"github.com/gofiber/", "github.com/valyala/fasthttp", "github.com/a-h/templ", "github.com/gorilla/", "github.com/fergusstrange/", "github.com/chromedp/"}
	for _, p := range goList(t, "./jobs/...", "./store") {
		for _, dep := range p.Deps {
			for _, h := range heavy {
				if strings.HasPrefix(dep, h) {
					t.Errorf("%s links %s", p.ImportPath, dep)
				}
			}
		}
	}
}
