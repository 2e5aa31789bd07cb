package jobs

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What is kept of a failure. One attempt's rows stay below 50 kB whatever the
// handler says, so that a page of many attempts stays readable and quick.
const (
	maxErrorText     = 16 << 10 // bytes of an error's message
	maxStackText     = 16 << 10 // bytes of a stack
	maxErrorLine     = 200      // characters of the line shown in lists
	maxReasonMessage = 50       // characters of the message in "Retry attempt …"
)

// cleanText makes text of any origin fit for Postgres, JSON and a screen, and no
// longer than limit bytes. Terminal escape sequences go; invalid UTF-8 (encoded
// surrogates too) and control characters but \n and \t become U+FFFD; CR LF and
// CR become \n. What does not fit is cut on a character boundary and says so:
// "… [truncated, 10485760 bytes in all]", counting the bytes of s.
func cleanText(s string, limit int) string {
	var b strings.Builder
	b.Grow(min(len(s), limit+utf8.UTFMax))
	i := 0
	// Stopping at the limit is what makes 10 MB cheap.
	for i < len(s) && b.Len() <= limit {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f:
			b.WriteByte(byte(r))
		case r == '\r':
			b.WriteByte('\n')
			if i+1 < len(s) && s[i+1] == '\n' {
				size = 2
			}
		case r == 0x1b || r == 0x9b:
			size = escapeLength(s[i:], size)
		case r == utf8.RuneError && size == 1:
			for i+size < len(s) && !validAt(s[i+size:]) {
				size++
			}
			b.WriteRune(utf8.RuneError)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	if b.Len() <= limit {
		return b.String()
	}
	mark := fmt.Sprintf("… [truncated, %d bytes in all]", len(s))
	if len(mark) > limit {
		mark = ""
	}
	return cutBytes(b.String(), limit-len(mark)) + mark
}

// validAt reports that s starts with a whole, valid character.
func validAt(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return r != utf8.RuneError || size != 1
}

// cutBytes keeps at most n bytes of valid UTF-8, whole characters only.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// escapeLength is the length of the escape sequence at the start of s, whose
// introducer (ESC, or the one-character form of ESC [) has size bytes. Of a
// malformed one only the introducer goes, so that it cannot swallow the text.
func escapeLength(s string, size int) int {
	i, kind := size, byte('[')
	if s[0] == 0x1b {
		if len(s) < 2 {
			return size
		}
		i, kind = 2, s[1]
	}
	switch {
	case kind == '[': // parameters and intermediates, then one final byte
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		return i
	case strings.IndexByte("]PX^_", kind) >= 0: // a string up to BEL or ESC \, on one line
		for j := i; j < len(s) && j < i+4096 && s[j] != '\n'; j++ {
			if s[j] == 0x07 {
				return j + 1
			}
			if s[j] == 0x1b { // ends it, or starts another that must not be scanned twice
				if j+1 < len(s) && s[j+1] == '\\' {
					return j + 2
				}
				break
			}
		}
		return 2
	case kind >= 0x20 && kind <= 0x2f: // intermediates, as in ESC ( B
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
			i++
		}
		if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
			i++
		}
		return i
	case kind >= 0x30 && kind <= 0x7e:
		return 2
	}
	return 1
}

// firstLine is the first line of s that shows anything, without outer space.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// clip keeps at most n characters of s; where it cuts, the last one is "…".
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	kept := 0
	for i := range s {
		if kept++; kept == n {
			return s[:i] + "…"
		}
	}
	return s
}
