package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes text safe for a terminal: control characters, invalid bytes and
// characters that change the direction of writing are shown as escapes, since an
// error's text comes from anywhere. The program writes no colours of its own.
func plain(s string) string {
	if strings.IndexFunc(s, unsafe) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case !unsafe(r):
			b.WriteString(s[i : i+size])
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

func unsafe(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// lines is plain for text of several lines, each indented.
func lines(s, indent string) string {
	var out []string
	for l := range strings.Lines(strings.ReplaceAll(s, "\r\n", "\n")) {
		out = append(out, indent+strings.ReplaceAll(plain(strings.TrimSuffix(l, "\n")), `\t`, "    "))
	}
	return strings.Join(out, "\n")
}

// writeJSON writes one indented value. What encoding/json leaves as it is but a
// terminal would act on can only stand inside strings, and is escaped there.
func writeJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range string(b) {
		switch {
		case r == '\n' || !unsafe(r):
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	_, err = fmt.Fprintln(w, out.String())
	return err
}
