package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// database/sql may run a statement twice, with err = nil, when a connection dies
// after executing it outside a transaction. So nothing may write through a pool.
var (
	writes  = regexp.MustCompile(`(?i)\b(insert\s+into|update\s+\S+\s+set|delete\s+from|truncate|pg_notify|nextval|drop|create|alter)\b`)
	execs   = regexp.MustCompile(`^(Must|Named)?Exec(Context)?$|^MustExec$`)
	queries = regexp.MustCompile(`^(Get|Select|NamedQuery|Query|QueryRow|Queryx|QueryRowx)(Context)?$`)
	pools   = regexp.MustCompile(`^\*(database/sql|github\.com/jmoiron/sqlx|` + regexp.QuoteMeta(module) + `/store)\.DB$`)
)

// Tests are looked at as well: one of theirs that runs twice is a test that fails by chance.
func TestNoWriteInAutocommit(t *testing.T) {
	t.Parallel()
	all := goList(t, "-test", "-export", "-deps", "./...")
	exports, tested := map[string]string{}, map[string]bool{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
		if base, variant, ok := strings.Cut(p.ImportPath, " ["); ok && variant == base+".test]" {
			tested[base] = true // the variant has the package's own files, too
		}
	}
	looked := 0
	for _, p := range all {
		base, _, _ := strings.Cut(p.ImportPath, " [")
		if room(base) == "" || strings.HasSuffix(base, ".test") || p.ImportPath == base && tested[base] {
			continue
		}
		var files []string
		for _, f := range p.GoFiles {
			files = append(files, filepath.Join(p.Dir, f))
		}
		looked += len(files)
		for _, bad := range autocommitWrites(t, base, files, nil, func(path string) string {
			if meant, ok := p.ImportMap[path]; ok {
				path = meant
			}
			return exports[path]
		}) {
			t.Error(bad)
		}
	}
	if looked < 500 {
		t.Errorf("only %d files were looked at", looked)
	}
}

func TestAutocommitWriteIsCaught(t *testing.T) {
	t.Parallel()
	exports := map[string]string{}
	for _, p := range goList(t, "-export", "-deps", "github.com/jmoiron/sqlx") {
		exports[p.ImportPath] = p.Export
	}
	const source = `package x
import ("context"; "github.com/jmoiron/sqlx")
type DB struct { *sqlx.DB }
const mark = "update jobs set x = 1"
func sql(s string) string { return s }
func f(ctx context.Context, pool *sqlx.DB, own *DB, tx *sqlx.Tx) {
	pool.ExecContext(ctx, "select 1")                            // caught: an Exec
	own.MustExec("select 1")                                     // caught: through embedding
	pool.GetContext(ctx, nil, sql("insert into jobs values (1)")) // caught: a write
	own.QueryRowContext(ctx, sql(mark))                          // caught: a constant
	pool.GetContext(ctx, nil, "select updated from created")     // fine
	tx.ExecContext(ctx, mark)                                    // fine
}`
	bad := autocommitWrites(t, "x", nil, strings.NewReader(source), func(path string) string { return exports[path] })
	if len(bad) != 4 {
		t.Errorf("caught %d of 4:\n%s", len(bad), strings.Join(bad, "\n"))
	}
}

// autocommitWrites type-checks one package, from files or from one source, and
// lists the calls on a pool that write or may write.
func autocommitWrites(t *testing.T, path string, files []string, source io.Reader, export func(path string) string) []string {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	add := func(name string, src any) {
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	for _, f := range files {
		add(f, nil)
	}
	if source != nil {
		add("source.go", source)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) {
		return os.Open(export(p))
	})}
	if _, err := conf.Check(path, fset, parsed, info); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var bad []string
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if why := writesOnPool(call, info); why != "" {
					bad = append(bad, fmt.Sprintf("%s: %s", fset.Position(call.Pos()), why))
				}
			}
			return true
		})
	}
	return bad
}

func writesOnPool(call *ast.CallExpr, info *types.Info) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || info.Selections[sel] == nil {
		return ""
	}
	method := info.Selections[sel].Obj().(interface{ Type() types.Type })
	signature, ok := method.Type().(*types.Signature)
	if !ok || signature.Recv() == nil || !pools.MatchString(signature.Recv().Type().String()) {
		return ""
	}
	if execs.MatchString(sel.Sel.Name) {
		return sel.Sel.Name + " on a pool: use a transaction or one connection"
	}
	if !queries.MatchString(sel.Sel.Name) {
		return ""
	}
	var found string
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok || info.Types[e].Value == nil {
				return true
			}
			// Not String: it shortens long texts.
			if m := writes.FindString(info.Types[e].Value.ExactString()); m != "" {
				found = sel.Sel.Name + " of " + strings.ToLower(m) + " on a pool: use a transaction or one connection"
			}
			return true
		})
	}
	return found
}
