package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every name that a user can call has a comment of its own, or one for its group.
func TestPublicNamesAreDocumented(t *testing.T) {
	t.Parallel()
	for name, path := range docPackages {
		folder, ours := strings.CutPrefix(path, module)
		if !ours || name == "store" {
			continue
		}
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", path, err)
		}
		packageDoc := false
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			packageDoc = packageDoc || f.Doc != nil
			for _, d := range f.Decls {
				for _, bare := range undocumented(d) {
					t.Errorf("%s.%s has no comment (%s)", name, bare, file)
				}
			}
		}
		if !packageDoc {
			t.Errorf("package %s has no comment", name)
		}
	}
}

// plainMethods say all by their name and the interface that they are for.
var plainMethods = map[string]bool{"Error": true, "Unwrap": true, "String": true}

func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil || !d.Name.IsExported() || d.Recv != nil && (plainMethods[d.Name.Name] || !ast.IsExported(receiver(d.Recv.List[0].Type))) {
			return nil
		}
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}
