package bookstore

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// post is one request to a provider; headers are name, value, ….
func postMail(t *testing.T, base, body string, headers ...string) (status int, a answer, h http.Header, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+ProviderPath, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, a, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusOK && json.Unmarshal(raw, &a) != nil {
		t.Errorf("answer %s", raw)
	}
	return resp.StatusCode, a, resp.Header, err
}

func newProvider(t *testing.T) (*Provider, string) {
	t.Helper()
	p := NewProvider()
	s := httptest.NewServer(p.Handler())
	t.Cleanup(s.Close)
	return p, s.URL
}

const toAda = `{"to":"ada@example.com","subject":"Invoice 42"}`

// The article's listing: the same message id, and a mark.
func TestProviderReplays(t *testing.T) {
	t.Parallel()
	p, base := newProvider(t)
	status, a, h, err := postMail(t, base, toAda, "Idempotency-Key", "invoice-email:42")
	if err != nil || status != 200 || a != (answer{"msg-0001", false}) || h.Get("Idempotent-Replayed") != "" {
		t.Fatalf("%d %+v %v %v", status, a, h, err)
	}
	// The quoted form of the IETF draft is the same key.
	for _, key := range []string{"invoice-email:42", `"invoice-email:42"`} {
		status, a, h, _ = postMail(t, base, toAda, "Idempotency-Key", key)
		if status != 200 || a != (answer{"msg-0001", true}) || h.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %d %+v %v", key, status, a, h)
		}
	}
	if n := len(p.Delivered("ada@example.com")); n != 1 {
		t.Errorf("%d mails, want 1", n)
	}
	log := p.Log(10)
	if len(log) != 3 || !log[2].Delivered || log[0].Delivered || !log[0].Replayed || log[0].MessageID != "msg-0001" {
		t.Errorf("log %+v", log)
	}
	if status, _, _, _ = postMail(t, base, strings.Replace(toAda, "42", "43", 1), "Idempotency-Key", "invoice-email:42"); status != 422 {
		t.Errorf("other content: %d, want 422", status)
	}
	// Without a key each request delivers.
	postMail(t, base, toAda)
	postMail(t, base, toAda)
	if n := len(p.Delivered("ada@example.com")); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
}

// The key is reserved before the work: two at once deliver one mail.
func TestProviderTwoAtOnce(t *testing.T) {
	t.Parallel()
	p, base := newProvider(t)
	p.Set(Switches{Latency: 300 * time.Millisecond})
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for range 16 {
		wg.Go(func() {
			status, _, h, err := postMail(t, base, toAda, "Idempotency-Key", "k")
			if err != nil || status == 409 && h.Get("Retry-After") != "1" {
				t.Errorf("%d %v %v", status, h, err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[status]++
		})
	}
	wg.Wait()
	if n := len(p.Delivered("ada@example.com")); n != 1 || got[409] == 0 || got[200]+got[409] != 16 {
		t.Errorf("%d mails, want 1; statuses %v", n, got)
	}
	// Other content is found out before the request in flight.
	p.take(Mail{To: "ada@example.com"}, "k2", sha256.Sum256([]byte(toAda)))
	if status, _, _, _ := postMail(t, base, toAda, "Idempotency-Key", "k2"); status != 409 {
		t.Errorf("the same in flight: %d, want 409", status)
	}
	if status, _, _, _ := postMail(t, base, `{"to":"ada@example.com","subject":"x"}`, "Idempotency-Key", "k2"); status != 422 {
		t.Errorf("other content in flight: %d, want 422", status)
	}
}

func TestProviderSwitches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		switches      Switches
		first, second int // statuses with one key; 0: no answer
		mails         int
	}{
		"works":                  {Switches{}, 200, 200, 1},
		"no keys":                {Switches{IgnoreKeys: true}, 200, 200, 2},
		"refuse":                 {Switches{Refuse: true}, 403, 200, 1},
		"throttle":               {Switches{Throttle: true}, 429, 200, 1},
		"fail before":            {Switches{FailBefore: true}, 500, 200, 1},
		"fail before, kept":      {Switches{FailBefore: true, KeepErrors: true}, 500, 500, 0},
		"fail after":             {Switches{FailAfter: true}, 500, 200, 1},
		"fail after, kept":       {Switches{FailAfter: true, KeepErrors: true}, 500, 500, 1},
		"fail after, no keys":    {Switches{FailAfter: true, IgnoreKeys: true}, 500, 200, 2},
		"drop":                   {Switches{Drop: true}, 0, 200, 1},
		"drop, no keys":          {Switches{Drop: true, IgnoreKeys: true}, 0, 200, 2},
		"key forgotten meantime": {Switches{KeyLife: time.Nanosecond}, 200, 200, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, base := newProvider(t)
			p.Script("ada@example.com", tt.switches)
			if tt.switches.IgnoreKeys || tt.switches.KeyLife > 0 {
				p.Set(Switches{IgnoreKeys: tt.switches.IgnoreKeys, KeyLife: tt.switches.KeyLife})
			}
			first, _, _, err := postMail(t, base, toAda, "Idempotency-Key", "k")
			if (err != nil) != (tt.first == 0) {
				t.Error(err)
			}
			second, a, _, _ := postMail(t, base, toAda, "Idempotency-Key", "k")
			if first != tt.first || second != tt.second || len(p.Delivered("ada@example.com")) != tt.mails {
				t.Errorf("%d, %d, %d mails; want %+v", first, second, len(p.Delivered("ada@example.com")), tt)
			}
			if tt.first == 0 && tt.mails == 1 && a != (answer{"msg-0001", true}) {
				t.Errorf("after the drop: %+v", a)
			}
		})
	}
}

func TestProviderBadInput(t *testing.T) {
	t.Parallel()
	p, base := newProvider(t)
	long := strings.Repeat("k", 256)
	for _, tt := range []struct {
		body string
		keys []string
		want int
	}{
		{"", nil, 400}, {"[]", nil, 400}, {"{}", nil, 400}, {`{"to":7}`, nil, 400},
		{`{"to":"` + strings.Repeat("a", maxMail) + `"}`, nil, 413},
		{toAda, []string{""}, 400}, {toAda, []string{`""`}, 400}, {toAda, []string{long}, 400}, {toAda, []string{long[:255]}, 200},
		{toAda, []string{`"open`}, 400}, {toAda, []string{`"a"b"`}, 400}, {toAda, []string{`"a\x"`}, 400}, {toAda, []string{`"a\"b"`}, 200},
		{toAda, []string{"a", "b"}, 400}, {toAda, []string{"ş"}, 400},
	} {
		var headers []string
		for _, k := range tt.keys {
			headers = append(headers, "Idempotency-Key", k)
		}
		status, _, h, err := postMail(t, base, tt.body, headers...)
		if err != nil || status != tt.want || status != 200 && h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.40s %.20v: %d %v, want %d", tt.body, tt.keys, status, err, tt.want)
		}
	}
	if n := len(p.Delivered("ada@example.com")); n != 2 {
		t.Errorf("%d mails, want 2", n)
	}
	resp, err := http.Get(base + ProviderPath + "?key=" + url.QueryEscape(`a"b`))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	var found struct {
		Running   bool   `json:"running"`
		MessageID string `json:"messageId"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&found); err != nil || found.Running || found.MessageID != "msg-0002" {
		t.Errorf("look-up: %+v %v", found, err)
	}
	resp.Body.Close()
	if resp, err = http.Get(base + ProviderPath + "?key=nobody"); err != nil || resp.StatusCode != 404 {
		t.Errorf("look-up of nothing: %v %v", resp, err)
	}
	resp.Body.Close()
}

// A provider that runs for weeks keeps no more than its limits.
func TestProviderForgets(t *testing.T) {
	t.Parallel()
	p := NewProvider()
	at := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return at }
	d := p.take(Mail{To: "a"}, "first", [32]byte{})
	p.work(t.Context(), d)
	if at = at.Add(24*time.Hour - 1); p.known("first", 0) == nil {
		t.Error("forgotten before its life is over")
	}
	if at = at.Add(1); p.known("first", 0) != nil {
		t.Error("remembered after its life")
	}
	for i := range maxKeys + 100 {
		to := strings.Repeat("x", i%7) + string(rune('a'+i%26)) + time.Duration(i).String()
		p.work(t.Context(), p.take(Mail{To: to}, to, [32]byte{}))
	}
	if len(p.keys) > maxKeys || len(p.keyOrder) > maxKeys || len(p.delivered) > maxKeys || len(p.log) > maxLog {
		t.Errorf("%d keys, %d recipients, %d lines", len(p.keys), len(p.delivered), len(p.log))
	}
}
