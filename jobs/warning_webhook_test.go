package jobs_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tekrar/tekrar/jobs"
	"github.com/tekrar/tekrar/store"
)

// outage writes the statistics of a week at 98 % and an hour at 80 %, up to now.
func outage(t *testing.T, db *store.DB) {
	t.Helper()
	shift(t, db, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 0, o.n, 0, 0, o.outcome, 1, 0, 'default', 'mail'
		from generate_series(13, 24 * 8) h cross join (values (1, 980), (2, 20)) o (outcome, n)`)
	shift(t, db, `insert into tekrar.stats (minute, server, n, run_us, wait_us, outcome, attempt, bucket, queue, kind)
		select date_trunc('minute', now()) - m * interval '1 minute', 1, case when outcome = 1 then case when m > 40 then 98 else 80 end else case when m > 40 then 2 else 20 end end, 0, 0, outcome, 1, 0, 'default', 'mail'
		from generate_series(0, 370) m cross join (values (1), (2)) o (outcome)`)
	t.Cleanup(func() { shift(t, db, `delete from tekrar.stats where kind = 'mail'`) }) // the checker finds no history of it
}

// Two servers and a receiver that fails at first: one job an episode, retried until
// it is told, always under one key.
func TestWebhookIsToldOnceAnEpisode(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	keys, bodies := make(chan string, 10), make(chan jobs.WarningNote, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n jobs.WarningNote
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		keys <- r.Header.Get("Idempotency-Key")
		bodies <- n
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(receiver.Close)
	cfg := quickly()
	cfg.Webhook = receiver.URL
	r := start(t, cfg, func(*jobs.Client) {})
	outage(t, r.DB())
	other, err := jobs.New(r.DB(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, c := range []*jobs.Client{other, r.Client, other} {
		if w, err := c.Warn(ctx); err != nil || !w.On || !w.Began {
			t.Fatalf("%+v, %v", w, err)
		}
	}
	ids := ask[int64](t, r.DB(), `select count(*) from tekrar.jobs`)
	if ids != 1 {
		t.Fatalf("%d jobs, want one an episode", ids)
	}
	r.waitFor(ask[int64](t, r.DB(), `select id from tekrar.jobs`), store.Succeeded)
	first, again := <-keys, <-keys
	n := <-bodies
	if first != again || !strings.HasPrefix(first, "tekrar-warning-2") {
		t.Errorf("keys %q, %q", first, again)
	}
	if n.Event != "first_attempt_rate_low" || n.Baseline != 0.98 || n.Rate > 0.85 || n.RateHigh < n.Rate || n.Text == "" || time.Since(n.Since) > time.Hour {
		t.Errorf("%+v", n)
	}
}

func TestWithoutWebhookNobodyIsTold(t *testing.T) {
	t.Parallel()
	r := start(t, quickly(), func(*jobs.Client) {})
	outage(t, r.DB())
	if w, err := r.Warn(context.Background()); err != nil || !w.On {
		t.Fatalf("%+v, %v", w, err)
	}
	if n := ask[int64](t, r.DB(), `select count(*) from tekrar.jobs`); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// What can be no web address is refused, and is not repeated: it may hold a secret.
func TestWebhookAddressIsChecked(t *testing.T) {
	t.Parallel()
	db, err := jobs.Open("postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, bad := range []string{"file:///etc/passwd", "gopher://h/secret", "example.com/secret", "https://", "/secret", "http://[::1", "ftp://h/secret"} {
		if _, err := jobs.New(db, jobs.Config{Webhook: bad}); err == nil || !strings.Contains(err.Error(), "Config.Webhook") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := jobs.New(db, jobs.Config{Webhook: "https://hooks.example.com/x?y"}); err != nil {
		t.Error(err)
	}
}

// A redirect is not followed, and is no success.
func TestWebhookFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	receiver := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(receiver.Close)
	cfg := quickly()
	cfg.Webhook = receiver.URL
	r := start(t, cfg, func(*jobs.Client) {})
	told, err := r.Enqueue(context.Background(), jobs.WarningNote{Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(told.ID, store.Failed)
}
