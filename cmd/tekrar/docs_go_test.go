package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docPackages are what a block may use without importing it.
var docPackages = map[string]string{
	"bytes": "bytes", "context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "json": "encoding/json",
	"log": "log", "os": "os", "sql": "database/sql", "time": "time", "strings": "strings", "slog": "log/slog",
	"fiber":       "github.com/gofiber/fiber/v2",
	"jobs":        module + "/jobs",
	"jobsotel":    module + "/jobs/jobsotel",
	"jobstest":    module + "/jobs/jobstest",
	"schedule":    module + "/jobs/schedule",
	"idempotency": module + "/jobs/idempotency",
	"outbound":    module + "/jobs/idempotency/outbound",
	"web":         module + "/web",
	"redact":      module + "/web/redact",
	"store":       module + "/store",
}

// Every block of Go compiles, from outside as for a reader: all of them, a package for
// each page, in a module of their own, with one run of vet.
func TestDocsGoCompiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	moduleOfDocs(t, dir, top)
	n := 0
	for _, p := range docs(t) {
		if !strings.HasPrefix(p.path, "docs/") {
			continue // README.md shows a part of an example that is compiled with its package
		}
		pkg := "docs"
		if strings.Contains(p.text, "\npackage main\n") {
			pkg = "main"
		}
		for i, b := range p.blocks {
			if b.language != "go" {
				continue
			}
			source, err := docFile(pkg, b.text)
			if err != nil {
				t.Errorf("%s: block %d: %v", p.path, i+1, err)
				continue
			}
			n++
			folder := filepath.Join(dir, strings.ToLower(strings.TrimSuffix(filepath.Base(p.path), ".md")))
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("block%d.go", i+1)), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n < 10 {
		t.Fatalf("only %d blocks of Go were found", n)
	}
	cmd := exec.Command("go", "vet", "-mod=mod", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet of the blocks: %v\n%s", err, out)
	}
}

// moduleOfDocs takes the versions of our own go.mod, so that nothing is downloaded.
func moduleOfDocs(t *testing.T, dir, top string) {
	t.Helper()
	ours, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(top, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(string(ours), "module "+module+"\n", "module example.com/docs\n", 1) +
		"\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + top + "\n"
	for name, text := range map[string]string{"go.mod": mod, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// docFile makes a file of a block: a whole one is left, of declarations the package and
// the imports are added. Blocks of one page are one package, as a reader takes them.
func docFile(pkg, block string) (string, error) {
	if strings.HasPrefix(block, "package ") {
		return block, nil
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", "package "+pkg+"\n"+block, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && docPackages[x.Name] != "" {
				used[x.Name] = true
			}
		}
		return true
	})
	var names []string
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	out.WriteString("package " + pkg + "\n\n")
	for _, name := range names {
		fmt.Fprintf(&out, "import %s %q\n", name, docPackages[name])
	}
	return out.String() + "\n" + block, nil
}

// exported are the names of our packages: "jobs.Open", "jobs.Client.Run", "jobs.Config.Lease".
func exported(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for name, path := range docPackages {
		folder, ours := strings.CutPrefix(path, module)
		if !ours {
			continue
		}
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", path, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				namesOf(name, d, all)
			}
		}
	}
	for name := range all { // jobs.DB is store.DB
		if rest, ok := strings.CutPrefix(name, "store."); ok {
			if typ, _, isMember := strings.Cut(rest, "."); isMember && all["jobs."+typ] {
				all["jobs."+rest] = true
			}
		}
	}
	return all
}

func namesOf(pkg string, d ast.Decl, all map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := pkg + "."
		if d.Recv != nil {
			name += receiver(d.Recv.List[0].Type) + "."
		}
		all[name+d.Name.Name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					all[pkg+"."+n.Name] = true
				}
			case *ast.TypeSpec:
				all[pkg+"."+s.Name.Name] = true
				if typ, ok := s.Type.(*ast.StructType); ok {
					for _, field := range typ.Fields.List {
						for _, n := range field.Names {
							all[pkg+"."+s.Name.Name+"."+n.Name] = true
						}
					}
				}
			}
		}
	}
}

func receiver(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.IndexListExpr:
		return receiver(typ.X)
	}
	return typ.(*ast.Ident).Name
}

// receivers are the variables that the text calls methods of.
var receivers = map[string]string{
	"client": "jobs.Client", "job": "jobs.Job", "claims": "idempotency.Claims",
}

var named = regexp.MustCompile("`([a-z]+)((?:\\.[A-Z][A-Za-z0-9]*)+)")

// Every exported name in the text exists.
func TestDocsNameRealIdentifiers(t *testing.T) {
	t.Parallel()
	all, seen := exported(t), 0
	for _, p := range docs(t) {
		for _, m := range named.FindAllStringSubmatch(p.prose, -1) {
			base := m[1]
			if docPackages[base] == "" || !strings.HasPrefix(docPackages[base], module) {
				base = receivers[m[1]]
			}
			if base == "" {
				continue
			}
			if seen++; !all[base+m[2]] {
				t.Errorf("%s: %s%s does not exist", p.path, m[1], m[2])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d names were found: the search is broken", seen)
	}
	for _, wrong := range []string{"jobs.Opne", "jobs.Client.Jog", "jobs.Config.Leese"} {
		if all[wrong] {
			t.Errorf("%s passes for real", wrong)
		}
	}
}

// Every example that the text names exists and is compiled with its package.
func TestDocsNameRealExamples(t *testing.T) {
	t.Parallel()
	for _, p := range docs(t) {
		for _, name := range regexp.MustCompile("`(Example[A-Za-z_]*)`").FindAllStringSubmatch(p.prose, -1) {
			out, err := exec.Command("grep", "-rlE", "--include=*_test.go", `^func `+name[1]+`\(\)`, "../../jobs", "../../web").Output()
			if err != nil || len(out) == 0 {
				t.Errorf("%s: %s is nowhere", p.path, name[1])
			}
		}
	}
}

func flagsOf(fs *flag.FlagSet) (names []string) {
	fs.VisitAll(func(f *flag.Flag) { names = append(names, "--"+f.Name) })
	return names
}
