package jobs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pageRow is a line of CONFORMANCE.md's table.
type pageRow struct {
	n           int
	status      string
	tests       []string
	says, words string
}

var (
	tableRow  = regexp.MustCompile(`^\| (\d+) \| ([^|]+) \| \*\*(holds|differs|not built)\*\*([^|]*) \| ([^|]*) ?\|$`)
	testName  = regexp.MustCompile("`([a-z]+\\.)?(Test\\w+)`")
	rowRange  = regexp.MustCompile(`(\d+)(?: ?to ?| ?- ?)(\d+)`)
	rowNumber = regexp.MustCompile(`\d+`)
)

func conformancePage(t *testing.T) (rows []pageRow) {
	t.Helper()
	text, err := os.ReadFile("CONFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Row ") {
			continue
		}
		m := tableRow.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a row: %s", line)
			continue
		}
		row := pageRow{status: m[3], says: m[2], words: m[4]}
		row.n, _ = strconv.Atoi(m[1])
		for _, name := range testName.FindAllStringSubmatch(m[5], -1) {
			row.tests = append(row.tests, name[1]+name[2])
		}
		rows = append(rows, row)
	}
	return rows
}

// testsOf reads the test functions of a package's folder: their names, as the page
// writes them, with all that they say.
func testsOf(t *testing.T, dir, prefix string, to map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			to[prefix+f.Name.Name] = string(source[set.Position(from).Offset:set.Position(f.End()).Offset])
		}
	}
}

// speaksOf reports that a test's text has the row's number, alone or in a range.
func speaksOf(text string, n int) bool {
	for _, r := range rowRange.FindAllStringSubmatch(text, -1) {
		low, _ := strconv.Atoi(r[1])
		high, _ := strconv.Atoi(r[2])
		if low <= n && n <= high {
			return true
		}
	}
	for _, s := range rowNumber.FindAllString(text, -1) {
		if s == fmt.Sprint(n) {
			return true
		}
	}
	return false
}

// The page tells the truth: every row once, every deviation with its reason, every
// test that it names there, and one of them speaking of the row by its number.
func TestConformancePage(t *testing.T) {
	t.Parallel()
	tests := map[string]string{}
	for dir, prefix := range map[string]string{".": "", "schedule": "schedule.", "../store": "store.", "../web": "web.", "../views": "views."} {
		testsOf(t, dir, prefix, tests)
	}
	rows := conformancePage(t)
	for i, r := range rows {
		if r.n != i+1 {
			t.Fatalf("row %d where row %d should be", r.n, i+1)
		}
		if r.status != "holds" && len(r.words) < len(": a reason") {
			t.Errorf("row %d %s without a reason", r.n, r.status)
		}
		if (r.status == "not built") != (len(r.tests) == 0) {
			t.Errorf("row %d, %s: %d tests", r.n, r.status, len(r.tests))
		}
		spoken := false
		for _, name := range r.tests {
			text, ok := tests[name]
			if !ok {
				t.Errorf("row %d names %s, which does not exist", r.n, name)
			}
			spoken = spoken || speaksOf(text, r.n)
		}
		if !spoken && len(r.tests) > 0 {
			t.Errorf("row %d: none of %v speaks of it", r.n, r.tests)
		}
	}
	same(t, 121, len(rows))
}

// What the page's test is made of can fail.
func TestConformancePageIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Rows 32 to 45": true, "_Rows38and39": true, `"38 not expected"`: true, "{38, ": true, "rows 30-38": true,
		"": false, "138": false, "380": false, "Rows 39 to 45": false, "3 8": false,
	} {
		if got := speaksOf(text, 38); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if tableRow.MatchString("| 1 | a | holds | `TestX` |") || !tableRow.MatchString("| 1 | a | **holds** | `TestX` |") || !tableRow.MatchString("| 46 | a | **not built**: b |  |") {
		t.Error("rows are read wrongly")
	}
}
