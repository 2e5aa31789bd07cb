package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A card that kills a real worker process, on the private Postgres of a demo: pressed
// in the browser, counted on the page.
func TestScenarioCardInTheDemo(t *testing.T) {
	t.Parallel()
	p := launch(t, nil, "demo", "--addr", "127.0.0.1:0", "--ephemeral", "--traffic", "0", "--workers", "1")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	resp, err := browser.Get(p.url + "demo")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	token := regexp.MustCompile(`name="token" value="([^"]+)"`).FindSubmatch(body)
	if err != nil || token == nil || !strings.Contains(string(body), "Nothing has been played yet") {
		t.Fatalf("the page has no form: %v %s", err, body)
	}
	form := url.Values{"token": {string(token[1])}, "card": {"killed-after-send"}, "count": {"1"}}
	press, _ := http.NewRequest(http.MethodPost, p.url+"demo/enqueue", strings.NewReader(form.Encode()))
	press.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	press.Header.Set("Origin", strings.TrimSuffix(p.url, "/"))
	resp, err = browser.Do(press)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("press: %v %v", resp, err)
	}
	resp.Body.Close()
	page := p.get(t, "demo", func(body string) bool { return strings.Contains(body, "Toolkit, invoice") })
	for _, want := range []string{"one mail (msg-0001), replayed = true", "delivered msg-0001", "repeated its answer for msg-0001", "invoice-email:4711"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if code := p.signal(t, syscall.SIGTERM, 30*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
}

func TestDemoWorkerRefusesNonsense(t *testing.T) {
	t.Parallel()
	env := onDatabase(t)
	tekrar(t, env, workerCommand, "colour=red").wantFailure(t, 1, "unknown setting", "provider, point, invoices")
	tekrar(t, env, workerCommand, "invoices=x").wantFailure(t, 1, "invoices", "whole number")
	if strings.Contains(tekrar(t, nil, "help").wantDone(t), workerCommand) {
		t.Error("the worker of scenarios is listed as a command")
	}
}
