package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keyboard is a person without a mouse. With TEKRAR_RECORD set to a folder it leaves
// a numbered picture of each step there, and the keys that led to it.
type keyboard struct {
	*browser
	folder string
	step   int
	keys   []string // since the last step
	all    strings.Builder
	total  int
}

// mostTabs is how often Tab may be pressed to come from one thing to the next.
const mostTabs = 30

func newKeyboard(t testing.TB, b *browser) *keyboard {
	k := &keyboard{browser: b, folder: os.Getenv("TEKRAR_RECORD")}
	if k.folder != "" {
		if err := os.MkdirAll(k.folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	return k
}

var keyNames = map[string]string{kb.Tab: "Tab", kb.Enter: "Enter", " ": "Space", kb.Escape: "Esc"}

func (k *keyboard) hit(key string) {
	k.t.Helper()
	k.press(key)
	k.total++
	name, ok := keyNames[key]
	if !ok {
		name = key
	}
	k.keys = append(k.keys, name)
}

func (k *keyboard) typeText(text string) {
	k.t.Helper()
	for _, c := range text {
		k.hit(string(c))
	}
}

// to presses Tab until an element that matches has the focus, which must be seen:
// outlined, on the screen and under nothing else.
func (k *keyboard) to(css string) {
	k.t.Helper()
	for range mostTabs {
		k.hit(kb.Tab)
		if !k.eval(fmt.Sprintf("document.activeElement.matches(%q)", css)) {
			continue
		}
		k.until(`(() => {
			const el = document.activeElement, s = getComputedStyle(el), r = el.getClientRects()[0];
			const top = document.elementFromPoint(Math.min(r.left + 3, innerWidth - 1), r.top + r.height / 2);
			window.seen = [s.outlineStyle, s.outlineWidth, r.top, r.bottom, innerHeight, top?.outerHTML.slice(0, 90)].join();
			return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.top >= 0 && r.bottom <= innerHeight
				&& top && (el.contains(top) || top.contains(el));
		})()`)
		return
	}
	k.t.Fatalf("%d Tabs do not lead to %s", mostTabs, css)
}

// skip takes the first link of a page, past everything that is on each page.
func (k *keyboard) skip() {
	k.t.Helper()
	k.to(".skip")
	k.hit(kb.Enter)
}

// done ends a step: its keys and its picture are kept.
func (k *keyboard) done(name string) {
	k.t.Helper()
	k.step++
	fmt.Fprintf(&k.all, "%d. %s: %d keys: %s\n", k.step, name, len(k.keys), runs(k.keys))
	k.t.Logf("%d. %s: %d keys: %s", k.step, name, len(k.keys), runs(k.keys))
	k.keys = nil
	if k.folder == "" {
		return
	}
	picture, err := chromedp.Run(k.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		k.t.Fatal(err)
	}
	file := fmt.Sprintf("%02d-%s.png", k.step, strings.ReplaceAll(name, " ", "-"))
	if err := os.WriteFile(filepath.Join(k.folder, file), picture, 0o644); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.folder, "keys.txt"), []byte(k.all.String()), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// runs writes repeated keys once: "Tab ×5, Enter".
func runs(keys []string) string {
	var out []string
	for i := 0; i < len(keys); {
		n := 1
		for i+n < len(keys) && keys[i+n] == keys[i] {
			n++
		}
		word := keys[i]
		if n > 1 {
			word += fmt.Sprintf(" ×%d", n)
		}
		out = append(out, word)
		i += n
	}
	return strings.Join(out, ", ")
}
