package main

import (
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tekrar/tekrar/store/storetest"
)

// The dashboard of a replica shows everything and changes nothing; after a promotion
// it acts without being started again.
func TestServeOnAReplica(t *testing.T) {
	t.Parallel()
	if storetest.Server(t) == nil {
		t.Skip("needs a server of its own")
	}
	primary := storetest.NewServer(t, map[string]string{"wal_level": "replica", "max_wal_senders": "4"})
	env := []string{"DATABASE_URL=" + primary.DSN("")}
	tekrar(t, env, "migrate", "up").wantDone(t)
	tekrar(t, env, "jobs", "enqueue", "k", `{"n":1}`).wantDone(t)
	replica := storetest.NewStandby(t, primary)
	there := []string{"DATABASE_URL=" + replica.DSN("")}

	if out := tekrar(t, there, "jobs", "show", "1").wantDone(t); !strings.Contains(out, "enqueued since") {
		t.Errorf("show: %s", out)
	}
	tekrar(t, there, "jobs", "delete", "1").wantFailure(t, 1, "takes no writes", "primary")
	tekrar(t, there, "jobs", "enqueue", "k", `{}`).wantFailure(t, 1, "takes no writes", "primary")
	if f := examined(t, tekrar(t, there, "doctor", "--json"))["writes"]; f.Level != warning || !strings.Contains(f.Says, "replica") {
		t.Errorf("doctor: %+v", f)
	}

	p := launch(t, there, "serve", "--auth", "none", "--addr", "127.0.0.1:0")
	if !strings.Contains(p.line, "takes no writes") {
		t.Errorf("said %q", p.line)
	}
	for _, path := range []string{"", "jobs", "jobs/1", "queues", "recurring", "servers", "claims", "calls", "failures", "audit", "attempts", "readyz"} {
		if body := p.get(t, path, func(string) bool { return true }); strings.Contains(body, `name="do"`) {
			t.Errorf("/%s offers an action", path)
		}
	}
	act := func() int {
		form := url.Values{"do": {"delete"}, "target": {"1:enqueued"}}
		req, err := http.NewRequest("POST", p.url+"jobs/act", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if code := act(); code != http.StatusServiceUnavailable {
		t.Errorf("an action on a replica: %d", code)
	}
	storetest.Promote(t, replica)
	poll, deadline := time.NewTicker(100*time.Millisecond), time.After(time.Minute)
	defer poll.Stop()
	for act() != http.StatusSeeOther {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("after the promotion it still refuses; stderr: %s", p.stderr)
		}
	}
	if code := p.signal(t, syscall.SIGTERM, 30*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
