package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tekrar/tekrar/views"
	"github.com/tekrar/tekrar/views/locale"
)

const (
	// diffContext is how many kept lines stand around a change.
	diffContext = 3
	// diffCells bounds the work of a comparison; beyond it the part between the first
	// and the last difference counts as replaced.
	diffCells = 4 << 20
)

// diffArgs compares two args line by line, each written the same way: members in the
// order of their names, one a line, every digit kept.
func diffArgs(in *locale.Locale, old, edited json.RawMessage) (lines []views.DiffLine, differ bool) {
	a, b := canonicalLines(old), canonicalLines(edited)
	if slices.Equal(a, b) {
		return nil, false
	}
	return folded(in, diffLines(a, b)), true
}

func canonicalLines(raw json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return strings.Split(string(raw), "\n")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(value) != nil {
		return strings.Split(string(raw), "\n")
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// diffLines is a shortest edit from a to b: the longest common lines stay.
func diffLines(a, b []string) (out []views.DiffLine) {
	add := func(mark rune, lines ...string) {
		for _, text := range lines {
			out = append(out, views.DiffLine{Mark: mark, Text: text})
		}
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	add(' ', a[:head]...)
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x)*len(y) > diffCells {
		add('-', x...)
		add('+', y...)
	} else {
		common := commonLengths(x, y)
		i, j := 0, 0
		for i < len(x) || j < len(y) {
			switch {
			case i < len(x) && j < len(y) && x[i] == y[j]:
				add(' ', x[i])
				i, j = i+1, j+1
			case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
				add('-', x[i])
				i++
			default:
				add('+', y[j])
				j++
			}
		}
	}
	add(' ', a[len(a)-tail:]...)
	return out
}

// commonLengths holds at [i][j] how many lines x[i:] and y[j:] have in common.
func commonLengths(x, y []string) [][]int32 {
	n := make([][]int32, len(x)+1)
	for i := range n {
		n[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	return n
}

// folded leaves out what is far from any change.
func folded(in *locale.Locale, lines []views.DiffLine) (out []views.DiffLine) {
	near := make([]bool, len(lines))
	for i, d := range lines {
		if d.Mark != ' ' {
			for k := max(0, i-diffContext); k <= min(len(lines)-1, i+diffContext); k++ {
				near[k] = true
			}
		}
	}
	for i := 0; i < len(lines); i++ {
		if near[i] {
			out = append(out, lines[i])
			continue
		}
		from := i
		for i+1 < len(lines) && !near[i+1] {
			i++
		}
		text := in.Plural(int64(i-from+1), "… 1 line unchanged", "… %d lines unchanged")
		out = append(out, views.DiffLine{Mark: '…', Text: text})
	}
	return out
}
