package jobs

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestERR01ERR06CleanText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\nline":                  "plain\ttext\nline",
		"a\x00b":                             "a\ufffdb",
		"a\xff\xfeb":                         "a\ufffdb",
		"a\xed\xa0\x80b":                     "a\ufffdb", // an encoded surrogate
		"çığ 猫 👩‍👧":                          "çığ 猫 👩‍👧",
		"\ufffd":                             "\ufffd",
		"a\r\nb\rc":                          "a\nb\nc",
		"\x1b[31;1mred\x1b[0m":               "red",
		"\x1b[38:2:1:2:3mx\x1b[?25l":         "x",
		"\u009b31mred":                       "red",
		"\x1b]0;title\x07text":               "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;": "link8;;",
		"\x1b]never closed\nmore":            "never closed\nmore",
		"\x1b(Bx\x1b7y":                      "xy",
		"end\x1b":                            "end",
		"\x1b[":                              "",
		"\x1bé":                              "é",
		"bell\a\x7f\u0085":                   "bell\ufffd\ufffd\ufffd",
		"<script>alert(1)</script>":          "<script>alert(1)</script>",
	} {
		if got := cleanText(in, 1000); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestERR03CleanTextCap(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat("猫", 10<<20/3)
	for name, unit := range map[string]string{
		"characters": "猫", "invalid bytes": "\xff", "escapes": "\x1b[31m", "unclosed sequences": "\x1b]",
	} {
		in := strings.Repeat(unit, 10<<20/len(unit))
		if got := cleanText(in, maxErrorText); len(got) > maxErrorText || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid %v", name, len(got), utf8.ValidString(got))
		}
		// Twenty times the text may take twenty times as long, not four hundred. Both
		// fit between two interruptions of a busy machine.
		small, large := cleaning(in[:len(in)/2000]), cleaning(in[:len(in)/100])
		if large > 150*small {
			t.Errorf("%s: 20 times the text took %d times as long", name, large/small)
		}
	}
	if got := cleanText((&PanicError{Value: ten, Type: "string"}).Error(), maxErrorText); len(got) > maxErrorText || !utf8.ValidString(got) {
		t.Errorf("panic text: %d bytes", len(got))
	}
	got := cleanText(ten, 100)
	mark := fmt.Sprintf("… [truncated, %d bytes in all]", len(ten))
	if !strings.HasSuffix(got, "猫"+mark) || len(got) < 95 {
		t.Errorf("%q", got)
	}
	for limit := range 12 {
		if got := cleanText("aé猫👩bcdefgh", limit); len(got) > limit || !utf8.ValidString(got) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := cleanText("12345", 5); got != "12345" {
		t.Errorf("a text of exactly the limit: %q", got)
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("\x1b[1m\xff\x00", 8)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, 0), 1000)
		got := cleanText(s, limit)
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Errorf("%q", got)
		}
		if again := cleanText(got, 1000); again != got {
			t.Errorf("cleaning twice: %q, then %q", got, again)
		}
	})
}

func TestFirstLineAndClip(t *testing.T) {
	t.Parallel()
	if got := firstLine("\n \n\t a b \nc"); got != "a b" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"猫猫猫", 3, "猫猫猫"}, {"猫猫猫猫", 2, "猫…"}, {"", 1, ""}, {"ab", 1, "…"}} {
		if got := clip(c.in, c.n); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestFingerprintGroupsWhatDiffersByIDs(t *testing.T) {
	t.Parallel()
	same := [][2]string{
		{"order 17 not found", "order 1970670598291982290 not found"},
		{"key 6f1c9d8e-0a1b-4c2d-9e3f-001122334455", "key 00000000-0000-0000-0000-000000000000"},
		{"at 0xc000012345", "at 0xdeadbeef"},
		{"object 5f2b9c1d77aa", "object 00ff00ff00ff"},
		{"took 1.5 s", "took 12 s"},
		{"first\nsecond", "first\nother"},
	}
	for _, c := range same {
		if Fingerprint("e", c[0]) != Fingerprint("e", c[1]) {
			t.Errorf("%q and %q do not group", c[0], c[1])
		}
	}
	if Fingerprint("e", "defaced") == Fingerprint("e", "effaced") || Fingerprint("e", "x") == Fingerprint("f", "x") ||
		Fingerprint("e", "order not found") == Fingerprint("e", "user not found") {
		t.Error("different failures group")
	}
}

func TestErrorType(t *testing.T) {
	t.Parallel()
	op := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for want, err := range map[string]error{
		"error":               fmt.Errorf("a: %w", errors.New("b")),
		"*net.OpError":        fmt.Errorf("a: %w", errors.Join(errors.New("b"), op)),
		"*jobs.supplierError": RetryAfter(&supplierError{}, 1),
		"panic":               panicResult(op, nil).Err,
	} {
		if got := errorType(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	loop := &loopError{}
	loop.next = loop
	if got := errorType(loop); got != "*jobs.loopError" {
		t.Errorf("cycle: %q", got)
	}
}

// cleaning is the best time of three: what else the machine does only adds to it.
func cleaning(text string) time.Duration {
	best := time.Hour
	for range 10 {
		start := time.Now()
		cleanText(text, maxErrorText)
		best = min(best, time.Since(start))
	}
	return max(best, time.Microsecond)
}
