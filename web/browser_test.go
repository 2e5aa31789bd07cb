package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/web"
)

// browser is a browser with one visible page.
type browser struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex
	wrongs []string // what its console complained about
}

// browse starts a browser on a page that becomes live.
func browse(t testing.TB, address string) *browser {
	t.Helper()
	b := openBrowser(t)
	b.visit(address)
	b.until(`document.querySelector("#live").dataset.mode === "live"`)
	return b
}

// openBrowser starts a browser. Each page has its own, because a tab in the
// background is hidden, and hidden pages let go of their socket.
func openBrowser(t testing.TB) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium on PATH, and CI=true")
		}
		t.Skip("no chromium on PATH: the browser test is left out")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path))
	for _, on := range []string{"disable-gpu", "disable-background-networking", "disable-component-update", "disable-sync", "no-first-run"} {
		opts = append(opts, chromedp.Flag(on, true))
	}
	ctx, stop := context.WithTimeout(context.Background(), 120*time.Second)
	t.Cleanup(stop)
	ctx, stopBrowser := chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(stopBrowser)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	go func() {
		for e, err := range chromedp.Events(ctx, log.EntryAdded) {
			if err != nil {
				return
			}
			b.wrong(fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	}()
	go func() {
		for e, err := range chromedp.Events(ctx, runtime.ExceptionThrown) {
			if err != nil {
				return
			}
			b.wrong("exception: " + e.ExceptionDetails.Text)
		}
	}()
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) visit(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// first runs a script in each page before the page's own.
func (b *browser) first(script string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// clean fails the test for whatever the console complained about; a policy violation
// would be there (SEC-11).
func (b *browser) clean(name string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.wrongs {
		b.t.Errorf("%s: console: %s", name, text)
	}
}

func (b *browser) wrong(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrongs = append(b.wrongs, text)
}

func (b *browser) eval(js string) bool {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+js+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

func (b *browser) until(js string) {
	b.t.Helper()
	// Between two pages there is a moment without a document, and what is asked in the
	// old one when the new one comes gets no answer.
	try := "!!(() => { try { return (" + js + "); } catch { return false; } })()"
	ask := func() bool {
		yes, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](try))
		if err != nil && !strings.Contains(err.Error(), "navigated or closed") {
			b.t.Fatalf("%s: %v", js, err)
		}
		return err == nil && yes
	}
	for end := time.Now().Add(30 * time.Second); !ask(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			html, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.querySelector('main').innerText"))
			b.t.Fatalf("never true: %s\n%s", js, clip(html))
		}
	}
}

func (b *browser) must(js string) {
	b.t.Helper()
	if !b.eval(js) {
		b.t.Errorf("not true: %s", js)
	}
}

// A person runs a failed job once more, by keyboard; another person has the list
// open. Both see what becomes of it without a reload, and neither loses focus,
// ticks, typed text or opened details.
func TestRunOnceIsSeenLive(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	x.work()
	one, two, three := x.failed("one"), x.failed("first"), x.failed("three")
	at := "http://" + x.host + x.prefix
	list := browse(t, at+"/jobs?state=failed")
	job := browse(t, fmt.Sprintf("%s/jobs/%d", at, two))
	row := func(id int64, css string) string {
		return fmt.Sprintf(`document.querySelector("#job-row-%d %s")`, id, css)
	}

	list.must(fmt.Sprintf(`window.kept = "yes", %s.click(), %s.click(), document.querySelector("input[name=queue]").focus(), document.execCommand("insertText", false, "half a na")`,
		row(one, "input"), row(three, "input")))
	job.must(`window.kept = "yes", document.querySelector("#policy summary").click(), document.querySelector("#stack summary")?.click(), document.querySelector("#btn-once").focus(), document.activeElement.id === "btn-once"`)
	if err := chromedp.Do(job.ctx, chromedp.KeyEvent("\r")); err != nil {
		t.Fatal(err)
	}

	job.until(`document.querySelector("#job-header .st-succeeded")`)
	job.must(`window.kept === "yes"`)
	job.must(`document.querySelector("#policy").open`)
	job.until(`document.activeElement !== document.body`)
	job.until(`document.querySelectorAll("#job-timeline li").length >= 4`)

	list.until(row(two, ".st-succeeded"))
	list.must(fmt.Sprintf(`document.querySelector("#job-row-%d").classList.contains("gone")`, two))
	list.must(`window.kept === "yes"`)
	list.must(row(one, "input") + ".checked && " + row(three, "input") + ".checked && !" + row(two, "input") + ".checked")
	list.must(`document.activeElement.name === "queue" && document.activeElement.value === "half a na"`)

	list.clean("list")
	job.clean("job")
}
