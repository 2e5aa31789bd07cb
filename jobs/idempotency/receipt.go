package idempotency

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	maxReceipt = 16 << 10 // bytes of JSON kept of a provider's answer
	maxReason  = 500      // characters kept of why a claim ended
)

// receiptText makes JSON that Postgres takes of what proves an effect. What has no
// such form is kept as text, and what is too long as its beginning: a receipt must
// not be lost because it is odd.
func receiptText(receipt any) string {
	var text []byte
	switch x := receipt.(type) {
	case nil:
		return ""
	case json.RawMessage:
		text = x
	case []byte:
		text = x
	case string:
		text = []byte(x)
	default:
		var err error
		if text, err = json.Marshal(receipt); err != nil {
			text = fmt.Append(nil, receipt)
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return ""
	}
	if len(text) <= maxReceipt && storable(text) {
		return string(text)
	}
	kept := string(text[:min(len(text), maxReceipt/4)])
	kept = strings.ReplaceAll(strings.ToValidUTF8(kept, "\ufffd"), "\x00", "\ufffd")
	if len(text) <= maxReceipt/4 {
		text, _ = json.Marshal(kept)
	} else {
		text, _ = json.Marshal(map[string]any{"begins": kept, "bytes": len(text)})
	}
	return string(text)
}

// storable reports JSON that jsonb takes: no NUL, no escaped surrogates (a lone
// one is refused), no exponents (written out in full they can be huge), not too deep.
func storable(text []byte) bool {
	lower := bytes.ToLower(text)
	if !json.Valid(text) || !utf8.Valid(text) || bytes.Contains(lower, []byte(`\u0000`)) || bytes.Contains(lower, []byte(`\ud`)) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for depth := 0; depth < 100; {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		switch x := token.(type) {
		case json.Number:
			if strings.ContainsAny(x.String(), "eE") {
				return false
			}
		case json.Delim:
			if x == '{' || x == '[' {
				depth++
			} else {
				depth--
			}
		}
	}
	return false
}

// cleanReason makes a reason of any origin fit for Postgres and one line of a screen.
func cleanReason(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > maxReason {
		s = string([]rune(s)[:maxReason-1]) + "…"
	}
	return strings.TrimSpace(s)
}
