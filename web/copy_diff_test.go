package web_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tekrar/tekrar/web"
)

func diffText(t *testing.T, old, edited string) string {
	t.Helper()
	lines, differ := web.DiffArgs(nil, json.RawMessage(old), json.RawMessage(edited))
	if differ != (len(lines) > 0) {
		t.Errorf("%s to %s: differ %v, %d lines", old, edited, differ, len(lines))
	}
	var b strings.Builder
	for _, d := range lines {
		b.WriteString(string(d.Mark) + d.Text + "\n")
	}
	return b.String()
}

func TestDiffArgs(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"b":1,"a":2}`, "{ \"a\" : 2,\r\n \"b\":1 }", ""}, // order and white space do not count
		{`{"a":"\u00e9<&>"}`, `{"a":"é<&>"}`, ""},
		{`{"n":1970670598291982290}`, `{"n":1970670598291982291}`, " {\n-  \"n\": 1970670598291982290\n+  \"n\": 1970670598291982291\n }\n"},
		{`{"n":2.5}`, `{"n":2.50}`, " {\n-  \"n\": 2.5\n+  \"n\": 2.50\n }\n"},
		{`{}`, `{"a":[]}`, "-{}\n+{\n+  \"a\": []\n+}\n"},
		{`{"l":[1,2,3,4,5,6,7,8,9]}`, `{"l":[1,2,3,4,5,6,7,8,10]}`, "…… 7 lines unchanged\n     6,\n     7,\n     8,\n-    9\n+    10\n   ]\n }\n"},
	} {
		if got := diffText(t, c[0], c[1]); got != c[2] {
			t.Errorf("%s to %s:\n%s\nwant\n%s", c[0], c[1], got, c[2])
		}
	}
}

// Read without its added lines a difference is the old text, without its removed ones
// the new one, also beyond the size up to which the shortest one is looked for.
func TestDiffLinesAreBothTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n, words int) (lines []string) {
		for range n {
			lines = append(lines, fmt.Sprint("w", random.IntN(words)))
		}
		return lines
	}
	for i := range 300 {
		a, b := text(random.IntN(12), 4), text(random.IntN(12), 4)
		if i == 0 {
			a, b = text(2100, 9), text(2100, 9)
		}
		var before, after []string
		for _, d := range web.DiffLines(a, b) {
			if d.Mark != '+' {
				before = append(before, d.Text)
			}
			if d.Mark != '-' {
				after = append(after, d.Text)
			}
		}
		if strings.Join(before, "\n") != strings.Join(a, "\n") || strings.Join(after, "\n") != strings.Join(b, "\n") {
			t.Fatalf("%v to %v reads as %v to %v", a, b, before, after)
		}
	}
}
