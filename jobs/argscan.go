package jobs

import (
	"strconv"
	"unicode/utf8"
)

// argScanner checks JSON text in one pass, copies it without white space, and
// knows at each moment where it is, which json.Valid and Postgres do not tell.
type argScanner struct {
	in      []byte
	pos     int
	out     []byte
	limit   int
	encoded bool // in was written by encoding/json
	path    []step
}

// step is one part of a path: a key, or a position if key is nil. A position
// below zero is an object between two of its members.
type step struct {
	key   []byte // between its quotes, as written
	index int
}

func scanArgs(in []byte, limit int, encoded bool) (string, error) {
	if limit <= 0 {
		limit = DefaultArgsLimit
	}
	s := &argScanner{in: in, limit: limit, encoded: encoded, out: make([]byte, 0, min(len(in), limit)+1)}
	s.space()
	if s.peek() != '{' {
		if s.pos == len(s.in) {
			return "", s.wrong("is empty, not a JSON object")
		}
		return "", s.wrong("is not a JSON object: it must start with {")
	}
	if err := s.value(); err != nil {
		return "", err
	}
	s.space()
	if s.pos < len(s.in) {
		return "", s.wrong("text after the JSON object, at byte %d", s.pos)
	}
	return string(s.out), nil
}

func (s *argScanner) wrong(format string, args ...any) error {
	return inputError("args "+s.where(), format, args...)
}

// unexpected words a breach of the JSON grammar at the present byte.
func (s *argScanner) unexpected(wanted string) error {
	if s.pos >= len(s.in) {
		return s.wrong("not valid JSON: it ends where %s should follow", phrase(wanted))
	}
	return s.wrong("not valid JSON: %s expected at byte %d", phrase(wanted), s.pos)
}

// where writes the path, $.a[3].b, with keys and the whole held to a length
// that an error message can carry.
func (s *argScanner) where() string {
	text := "$"
	for _, p := range s.path {
		switch {
		case p.key == nil && p.index < 0:
		case p.key == nil:
			text += "[" + strconv.Itoa(p.index) + "]"
		case plainKey(p.key):
			text += "." + clip(string(p.key), 60)
		default:
			text += `["` + clip(cleanText(string(p.key), 4*60), 60) + `"]`
		}
		if len(text) > 300 {
			return text + "…"
		}
	}
	return text
}

func plainKey(key []byte) bool {
	for _, c := range key {
		if c < utf8.RuneSelf && c != '_' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(key) > 0 && utf8.Valid(key)
}

func (s *argScanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

func (s *argScanner) space() {
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// copyTo takes the input up to end over into the output.
func (s *argScanner) copyTo(end int) error {
	s.out = append(s.out, s.in[s.pos:end]...)
	s.pos = end
	if len(s.out) > s.limit {
		s.path = nil // the whole is too long, not the part where it was noticed
		return s.wrong("the JSON text is over the limit of %d bytes (%d bytes given)", s.limit, len(s.in))
	}
	return nil
}

// value recurses at most MaxArgsDepth deep.
func (s *argScanner) value() error {
	switch c := s.peek(); {
	case c == '{':
		return s.list('}', step{index: -1}, s.member)
	case c == '[':
		return s.list(']', step{}, s.value)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if end := s.pos + len(word); end <= len(s.in) && string(s.in[s.pos:end]) == word {
			return s.copyTo(end)
		}
	}
	return s.unexpected("a value")
}

// list reads an object or an array; first is where it starts, item reads one
// member or element.
func (s *argScanner) list(closing byte, first step, item func() error) error {
	if len(s.path) >= MaxArgsDepth {
		return s.wrong("is nested deeper than %d levels", MaxArgsDepth)
	}
	if err := s.copyTo(s.pos + 1); err != nil {
		return err
	}
	s.space()
	if s.peek() == closing {
		return s.copyTo(s.pos + 1)
	}
	s.path = append(s.path, first)
	for {
		s.space()
		if err := item(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case closing:
			s.path = s.path[:len(s.path)-1]
			return s.copyTo(s.pos + 1)
		case ',':
			here := &s.path[len(s.path)-1]
			if here.key = nil; first.index == 0 {
				here.index++
			}
			if err := s.copyTo(s.pos + 1); err != nil {
				return err
			}
		default:
			if closing == '}' {
				return s.unexpected(", or }")
			}
			return s.unexpected(", or ]")
		}
	}
}

func (s *argScanner) member() error {
	if s.peek() != '"' {
		return s.unexpected("a key")
	}
	start := s.pos + 1
	// Named before it is checked, so that a bad key is found by its own name.
	end := start
	for end < len(s.in) && s.in[end] != '"' {
		if s.in[end] == '\\' {
			end++
		}
		end++
	}
	s.path[len(s.path)-1].key = s.in[start:min(end, len(s.in))]
	if err := s.str(); err != nil {
		return err
	}
	s.space()
	if s.peek() != ':' {
		return s.unexpected(":")
	}
	if err := s.copyTo(s.pos + 1); err != nil {
		return err
	}
	s.space()
	return s.value()
}
