package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// LIF-11
func TestPlainEscapesWhatATerminalActsOn(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Rechnung № 7, €5 ✓ 😀":     "Rechnung № 7, €5 ✓ 😀",
		"\x1b[31mred\x1b[0m\a":     `\x1b[31mred\x1b[0m\x07`,
		"a\r\nb\tc":                `a\x0d\nb\tc`,
		"bad \xff byte":            `bad \xff byte`,
		"csi \u009b31m del \x7f":   `csi \u009b31m del \x7f`,
		"evil \u202egnp.exe\u2066": `evil \u202egnp.exe\u2066`,
		"tag \U000e0041":           `tag \U000e0041`,
		"line\u2028break":          `line\u2028break`,
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLinesKeepTheirNumber(t *testing.T) {
	t.Parallel()
	if got := lines("first\r\n\tsecond \x1b[1m\nthird\n", "  "); got != "  first\n      second \\x1b[1m\n  third" {
		t.Errorf("%q", got)
	}
}

// LIF-11, ARG-03
func TestJSONIsValidAndSafe(t *testing.T) {
	t.Parallel()
	in := map[string]any{
		"text": "esc \x1b c1 \u009b rtl \u202e del \x7f tag \U000e0041 face 😀",
		"args": json.RawMessage(`{"id":1970670598291982290,"raw":"` + "\u009b" + `"}`),
	}
	var b bytes.Buffer
	if err := writeJSON(&b, in); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r != '\n' && unsafe(r) {
			t.Errorf("%U reaches the terminal", r)
		}
	}
	var out struct {
		Text string
		Args struct{ ID json.Number }
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if out.Text != in["text"] || out.Args.ID != "1970670598291982290" {
		t.Errorf("read back %q, %s", out.Text, out.Args.ID)
	}
}
