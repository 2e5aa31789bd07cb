package web_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/tekrar/tekrar/store"
	"github.com/tekrar/tekrar/web"
)

// 50 jobs finish while the server is away. Five seconds after it is back the page
// shows what the database holds.
func TestLIVGapIsFetched(t *testing.T) {
	t.Parallel()
	options := web.Options{Access: web.None()}
	x := open(t, settings{options: options})
	var ids []int64
	for range 50 {
		ids = append(ids, x.enqueue(note{Text: "n"}))
	}
	b := browse(t, "http://"+x.host+"/jobs?state=enqueued")
	b.must(`document.querySelectorAll("tbody .st-enqueued").length === 50`)
	x.stop()
	b.until(`document.querySelector("#live").dataset.mode === "reconnecting"`)
	x.work()
	x.until("all jobs are done", func() bool {
		rows, err := x.db.JobRows(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.State != store.Succeeded {
				return false
			}
		}
		return len(rows) == 50
	})
	b.must(`document.querySelectorAll("tbody .st-enqueued").length === 50`)
	options.Logger = x.quiet()
	server, err := web.Listen(x.host, "", x.client, options)
	if err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	b.until(`document.querySelectorAll("tbody tr.gone .st-succeeded").length === 50`)
	if took := time.Since(back); took > 5*time.Second {
		t.Errorf("the page was right after %s", took)
	}
}

// Where no socket opens, the page asks for itself.
func TestLIVNoSocketPolls(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	id := x.enqueue(note{Text: "n"})
	b := openBrowser(t)
	b.first(`
		window.WebSocket = class { constructor() { setTimeout(() => this.onclose?.()); } close() {} };
		const every = setInterval;
		window.setInterval = (f, ms) => every(f, ms === 15000 ? 150 : ms);`)
	b.visit("http://" + x.host + "/ops/jobs?state=enqueued")
	b.until(`document.querySelector("#live").dataset.mode === "polling"`)
	b.must(`document.querySelector("#live").textContent.includes("polling") && !document.querySelector(".live-r").hidden`)
	x.work()
	x.until("the job is done", func() bool { return x.state(id) == store.Succeeded })
	b.until(fmt.Sprintf(`document.querySelector("#job-row-%d").classList.contains("gone")`, id))
	b.must(`document.querySelector("#live").dataset.mode === "polling"`)
}

// Without a script a failed job is found, ticked, retried through the confirm step.
func TestNoScriptRetriesAJob(t *testing.T) {
	t.Parallel()
	x := open(t, settings{prefix: "/ops", options: web.Options{Access: web.None()}})
	x.work()
	id := x.failed("first")
	b := openBrowser(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	click := func(css string) { t.Helper(); b.do(chromedp.Click(chromedp.CSS(css))) }
	b.visit("http://" + x.host + "/ops/")
	b.must(`!document.querySelector("#live").dataset.mode`) // no script ran
	click(`nav.wide a[href="/ops/jobs"]`)
	b.until(`document.querySelector("#state-tabs")`)
	click(`#state-tabs .st-failed`)
	b.until(fmt.Sprintf(`document.querySelector("#job-row-%d")`, id))
	click(fmt.Sprintf(`#job-row-%d input`, id))
	click(`button[name=do][value=requeue]:not([formaction])`)
	b.until(`document.querySelector(".confirm")`)
	click(`.confirm button[value=once]`)
	b.until(`document.querySelector(".notice")`)
	x.until("the job ran once more", func() bool { return x.state(id) == store.Succeeded })
	click(".help") // the sheet, and the choices in it
	b.until(`document.querySelector("#keys").matches(":popover-open")`)
	click(`#keys button[value=dense]`)
	b.until(`document.documentElement.dataset.rows === "dense"`)
	click(`#live .live-r`)
	b.until(`document.querySelector("#state-tabs")`)
	b.must(`!document.querySelector("#live").dataset.mode`)
}

// What the script adds to a page does not push its content about.
func TestLivePagesDoNotShift(t *testing.T) {
	t.Parallel()
	x := open(t, settings{options: web.Options{Access: web.None(), Demo: demo}})
	x.work()
	id := x.failed("one")
	for range 20 {
		x.enqueue(note{Text: "n"})
	}
	b := openBrowser(t)
	b.first(`window.shifted = 0; new PerformanceObserver((l) => { for (const e of l.getEntries()) if (!e.hadRecentInput) shifted += e.value; }).observe({ type: "layout-shift", buffered: true });`)
	for _, width := range []int64{320, 1280} {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, path := range []string{"/", "/jobs?state=succeeded", "/jobs?state=failed", fmt.Sprintf("/jobs/%d", id), "/failures", "/attempts", "/queues", "/servers", "/recurring", "/claims", "/calls", "/audit"} {
			b.visit("http://" + x.host + path)
			b.until(`document.querySelector("#live").dataset.mode === "live" || !document.body.dataset.live`)
			shift, err := chromedp.Run(b.ctx, chromedp.Evaluate[float64](`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(shifted))))`, chromedp.EvalAwaitPromise))
			if err != nil || shift >= 0.02 {
				t.Errorf("%s at %d: content shifts by %.3f, %v", path, width, shift, err)
			}
		}
	}
	b.clean("pages")
}
