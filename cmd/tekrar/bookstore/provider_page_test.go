package bookstore

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/tekrar/tekrar/web"
)

// typed is the form as the page shows it.
func typed(p *web.Provider) map[string]string {
	values := map[string]string{}
	for _, s := range p.Switches() {
		values[s.Name] = s.Value
	}
	return values
}

// Every switch turned on the page is felt by the next request, and shown.
func TestProviderPageTurnsSwitches(t *testing.T) {
	t.Parallel()
	provider, base := newProvider(t)
	l := &Lab{provider: provider, url: base + ProviderPath}
	page := l.providerPage()
	if got := provider.Switched(); page.Turn("ada", typed(page)) != nil || provider.Switched() != (Switches{KeyLife: defaultKeyLife}) {
		t.Errorf("the form as it stands turned %+v to %+v", got, provider.Switched())
	}
	if who, at := page.Turned(); who != "ada" || at.IsZero() {
		t.Errorf("turned by %q at %v", who, at)
	}
	for _, tt := range []struct {
		name     string
		statuses [2]int // of two requests with one key; 0: no answer
		mails    int
	}{
		{"ignore_keys", [2]int{200, 200}, 2}, {"refuse", [2]int{403, 403}, 0}, {"throttle", [2]int{429, 429}, 0},
		{"fail_before", [2]int{500, 500}, 0}, {"fail_after", [2]int{500, 200}, 1}, {"drop", [2]int{0, 200}, 1},
	} {
		values := typed(page)
		for _, c := range choices {
			values[c.name] = ""
		}
		values[tt.name] = "1"
		if err := page.Turn("ada", values); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(typed(page), values) {
			t.Errorf("%s: the page shows %v, typed %v", tt.name, typed(page), values)
		}
		to := tt.name + "@example.com"
		for _, want := range tt.statuses {
			status, _, _, err := postMail(t, base, `{"to":"`+to+`"}`, "Idempotency-Key", tt.name)
			if status != want || (err != nil) != (want == 0) {
				t.Errorf("%s: status %d, want %d: %v", tt.name, status, want, err)
			}
		}
		if n := len(provider.Delivered(to)); n != tt.mails {
			t.Errorf("%s: %d mails, want %d", tt.name, n, tt.mails)
		}
	}
	values := typed(page)
	values["drop"], values["key_life"], values["latency"] = "", "1", "250"
	if err := page.Turn("ada", values); err != nil || provider.Switched() != (Switches{KeyLife: time.Second, Latency: 250 * time.Millisecond}) {
		t.Errorf("%+v %v", provider.Switched(), err)
	}
	for name, bad := range map[string]string{"key_life": "0", "latency": "60001", "drop": "yes"} {
		wrong := maps.Clone(values)
		wrong[name] = bad
		if err := page.Turn("eve", wrong); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "must be") {
			t.Errorf("%s %q: %v", name, bad, err)
		}
	}
	if who, _ := page.Turned(); who != "ada" || provider.Switched().Latency != 250*time.Millisecond {
		t.Error("a refused form turned a switch")
	}
}

func TestProviderPageLooksKeysUp(t *testing.T) {
	t.Parallel()
	provider, base := newProvider(t)
	page := (&Lab{provider: provider, url: base + ProviderPath}).providerPage()
	postMail(t, base, toAda, "Idempotency-Key", "invoice-email:42")
	provider.Script("bob@example.com", Switches{FailBefore: true, KeepErrors: true})
	postMail(t, base, `{"to":"bob@example.com"}`, "Idempotency-Key", "failed")
	provider.take(Mail{To: "ada@example.com"}, "running", [32]byte{})
	for key, says := range map[string]string{
		"invoice-email:42": "delivered msg-0001", ` "invoice-email:42" `: "delivered msg-0001", "failed": "delivered nothing",
		"running": "still runs", "nobody": "No request came", "ş": "no key", strings.Repeat("k", 256): "at most 255",
	} {
		if got := page.LookUp(key); !strings.Contains(got, says) {
			t.Errorf("%q: %q, want %q", key, got, says)
		}
	}
	if log := page.Log(); len(log.Rows) != 2 {
		t.Errorf("log %+v", log)
	}
}
