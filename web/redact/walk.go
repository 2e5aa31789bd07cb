package redact

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// walk copies valid JSON byte by byte, apart from what is hidden, so that numbers
// keep all their digits and keys their order.
type walk struct {
	rules   *Rules
	in      []byte
	at      int
	out     []byte
	changed bool

	// visit, when set, is asked about each hidden value instead of replacing it with
	// Hidden: it gets the path and the value and returns what to write.
	visit func(path []string, value []byte) []byte
}

func (w *walk) value(path []string, inArray bool) {
	w.space()
	if w.rules.hides(path, inArray) {
		from := w.at
		w.skip()
		value := w.in[from:w.at]
		switch {
		case w.visit != nil:
			w.out = append(w.out, w.visit(path, value)...)
		case string(value) == "null":
			w.out = append(w.out, value...)
		default:
			w.out, w.changed = append(w.out, `"`+Hidden+`"`...), true
		}
		return
	}
	switch w.in[w.at] {
	case '{':
		w.members('}', func(int) {
			from := w.at
			w.skip()
			w.out = append(w.out, w.in[from:w.at]...)
			var key string
			_ = json.Unmarshal(w.in[from:w.at], &key)
			w.space()
			w.copy() // the colon
			w.value(append(path, key), false)
		})
	case '[':
		w.members(']', func(i int) { w.value(append(path, strconv.Itoa(i)), true) })
	default:
		from := w.at
		w.skip()
		w.out = append(w.out, w.in[from:w.at]...)
	}
}

// members copies brackets and commas, and calls each for what is between them.
func (w *walk) members(end byte, each func(i int)) {
	w.copy()
	for i := 0; ; i++ {
		w.space()
		if w.in[w.at] == end {
			break
		}
		if w.in[w.at] == ',' {
			w.copy()
			w.space()
		}
		each(i)
	}
	w.copy()
}

func (w *walk) copy() {
	w.out = append(w.out, w.in[w.at])
	w.at++
}

func (w *walk) space() {
	for w.at < len(w.in) && strings.IndexByte(" \t\r\n", w.in[w.at]) >= 0 {
		w.copy()
	}
}

// skip passes one value of whatever depth.
func (w *walk) skip() {
	depth := 0
	for {
		switch c := w.in[w.at]; {
		case c == '"':
			for w.at++; w.in[w.at] != '"'; w.at++ {
				if w.in[w.at] == '\\' {
					w.at++
				}
			}
			w.at++
		case c == '{' || c == '[':
			depth++
			w.at++
		case c == '}' || c == ']':
			depth--
			w.at++
		case depth > 0 && bytes.IndexByte([]byte(" \t\r\n,:"), c) >= 0:
			w.at++
			continue
		default:
			for w.at < len(w.in) && bytes.IndexByte([]byte(" \t\r\n,:]}"), w.in[w.at]) < 0 {
				w.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}
