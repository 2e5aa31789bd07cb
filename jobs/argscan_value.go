package jobs

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string and refuses what jsonb cannot hold: U+0000, halves of
// surrogate pairs, bytes that are no UTF-8.
func (s *argScanner) str() error {
	i := s.pos + 1
	for i < len(s.in) {
		c := s.in[i]
		switch {
		case c == '"':
			return s.copyTo(i + 1)
		case c == '\\':
			size, err := s.escape(i)
			if err != nil {
				return err
			}
			i += size
		case c < 0x20:
			return s.wrong("not valid JSON: control character %s in a string, at byte %d", fmt.Sprintf("%#02x", c), i)
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(s.in[i:])
			if r == utf8.RuneError && size == 1 {
				return s.wrong("holds bytes that are not valid UTF-8, at byte %d", i)
			}
			i += size
		}
		if i-s.pos+len(s.out) > s.limit+1 {
			return s.copyTo(min(i, len(s.in)))
		}
	}
	s.pos = len(s.in)
	return s.unexpected(`a closing "`)
}

// escape checks the escape at i and gives its length.
func (s *argScanner) escape(i int) (int, error) {
	if i+1 >= len(s.in) {
		s.pos = len(s.in)
		return 0, s.unexpected("an escape")
	}
	switch s.in[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
	default:
		return 0, s.wrong("not valid JSON: unknown escape at byte %d", i)
	}
	r, ok := s.hex(i)
	switch {
	case !ok:
		return 0, s.wrong("not valid JSON: \\u without four hexadecimal digits, at byte %d", i)
	case r == 0:
		return 0, s.wrong("holds the character U+0000, which Postgres cannot store")
	case r == utf8.RuneError && s.encoded:
		return 0, s.wrong("holds bytes that are not valid UTF-8 (or the escape \\ufffd: write the character itself)")
	case !utf16.IsSurrogate(r):
		return 6, nil
	}
	low, ok := s.hex(i + 6)
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return 0, s.wrong("holds half of a surrogate pair, %s, which is no character", s.in[i:i+6])
	}
	return 12, nil
}

// hex reads \uXXXX at i.
func (s *argScanner) hex(i int) (rune, bool) {
	if i+6 > len(s.in) || s.in[i] != '\\' || s.in[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.in[i+2:i+6]), 16, 16)
	return rune(n), err == nil
}

// number keeps the digits as they are.
func (s *argScanner) number() error {
	i := s.pos
	digits := func() bool {
		start := i
		for i < len(s.in) && s.in[i] >= '0' && s.in[i] <= '9' {
			i++
		}
		return i > start
	}
	at := func(set string) bool {
		for k := range len(set) {
			if i < len(s.in) && s.in[i] == set[k] {
				i++
				return true
			}
		}
		return false
	}
	bad := func() error {
		s.pos = i
		return s.unexpected("a digit")
	}
	at("-")
	if !at("0") && !digits() {
		return bad()
	}
	if at(".") && !digits() {
		return bad()
	}
	if at("eE") {
		at("+-")
		start := i
		if !digits() {
			return bad()
		}
		if e, err := strconv.Atoi(string(s.in[start:i])); err != nil || e > MaxArgsExponent {
			return s.wrong("the exponent of number %s is over the limit of %d", clip(string(s.in[s.pos:i]), 40), MaxArgsExponent)
		}
	}
	// Postgres' numeric ends near 131,000 digits before the point and 16,383 after.
	if i-s.pos > 10*MaxArgsExponent {
		return s.wrong("a number of %d characters: at most %d", i-s.pos, 10*MaxArgsExponent)
	}
	return s.copyTo(i)
}
