package locale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// texts says which arguments of a function are sentences of the catalogue.
var texts = map[string][]int{
	"Say": {0}, "Plural": {1, 2}, "Sentence": {0}, "of": {1, 2}, "badInput": {0}, "refuse": {1},
	"say": {0}, "phrase": {0}, "phrased": {0}, // of package schedule
	"inputError": {1}, "wrong": {0}, "unexpected": {0}, // of package jobs
}

// englishOf collects the sentences of the dashboard's source, with the place of each.
func englishOf(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.go", "../*.go", "../../web/*.go", "../../jobs/*.go", "../../jobs/schedule/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, files, err)
		}
		for _, file := range files {
			// Programs that use the API get English.
			if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(filepath.Base(file), "api_") {
				continue
			}
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, at := range texts[name(call)] {
					place := set.Position(call.Pos()).String()
					if at >= len(call.Args) { // another function of that name
						continue
					}
					if text, ok := literal(call.Args[at]); ok {
						found[text] = place
					} else if _, plain := call.Args[at].(*ast.BinaryExpr); plain {
						t.Errorf("%s: a sentence is put together; the catalogue cannot have it", place)
					}
				}
				return true
			})
		}
	}
	return found
}

func name(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// wordless sentences are the same in every language.
var wordless = regexp.MustCompile(`^(%(\.\d+)?[sdfv]|[\s\d\p{P}+×·<>=µ]|\.%)*$`)

func TestEverySentenceIsTranslated(t *testing.T) {
	t.Parallel()
	found := englishOf(t)
	if len(found) < 500 {
		t.Errorf("only %d sentences found in the source", len(found))
	}
	for _, text := range slices.Sorted(maps.Keys(found)) {
		if _, ok := turkish[text]; !ok && text != "" && !wordless.MatchString(text) {
			t.Errorf("%s: not in the Turkish catalogue: %q", found[text], text)
		}
	}
	for text := range turkish {
		if found[text] == "" {
			t.Errorf("nothing says %q any more: take it out of the catalogue", text)
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?(\.\d+)?([a-zA-Z%])`)

// verbs are the verbs of a text in the order of their arguments.
func verbs(text string) []string {
	var out []string
	for i, m := range verb.FindAllStringSubmatch(text, -1) {
		at := strconv.Itoa(i + 1)
		if m[1] != "" {
			at = m[1]
		}
		if m[3] != "%" {
			out = append(out, at+m[2]+m[3])
		}
	}
	slices.Sort(out)
	return out
}

func TestTranslationsHaveTheVerbsOfTheSentence(t *testing.T) {
	t.Parallel()
	for english, said := range turkish {
		want, got := verbs(strings.ReplaceAll(english, "%%", "")), verbs(strings.ReplaceAll(said, "%%", ""))
		if !slices.Equal(want, got) {
			t.Errorf("%q has the values %v, its translation %q %v", english, want, said, got)
		}
		if strings.Contains(said, "%[") && strings.Count(strings.ReplaceAll(said, "%%", ""), "%") != strings.Count(said, "%[") {
			t.Errorf("%q numbers some of its values only", said)
		}
	}
}

// A sentence that two files translate would be whatever the second says.
func TestEachSentenceIsTranslatedOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("turkish_*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	first := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if pair, ok := n.(*ast.KeyValueExpr); ok {
				if text, ok := literal(pair.Key); ok {
					if first[text] != "" {
						t.Errorf("%q is in %s and %s", text, first[text], file)
					}
					first[text] = file
				}
			}
			return true
		})
	}
	if len(first) != len(turkish) {
		t.Errorf("%d sentences in the files, %d in the catalogue: one file is not merged", len(first), len(turkish))
	}
}
