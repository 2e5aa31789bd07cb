package outbound

import (
	"net/http"
	"strings"
	"testing"
)

func TestKeyOnTheWire(t *testing.T) {
	t.Parallel()
	long, quoted := strings.Repeat("k", 256), IETF()
	for _, tt := range []struct {
		name    string
		profile Profile
		key     string
		header  string
		want    string // "h-" means hashed
	}{
		{"raw", Article(), "invoice-email:42", "Idempotency-Key", "invoice-email:42"},
		{"structured", quoted, "invoice-email:42", "Idempotency-Key", `"invoice-email:42"`},
		{"structured with quotes", quoted, `a"b\c`, "Idempotency-Key", `"a\"b\\c"`},
		{"raw with quotes", Article(), `a"b`, "Idempotency-Key", "h-"},
		{"255", Article(), long[:255], "Idempotency-Key", long[:255]},
		{"256", Article(), long, "Idempotency-Key", "h-"},
		{"short limit", PayPalLike(), long[:39], "Paypal-Request-Id", "h-"},
		{"within short limit", PayPalLike(), long[:38], "Paypal-Request-Id", long[:38]},
		{"non-ASCII", Article(), "fatura:ş", "Idempotency-Key", "h-"},
		{"control", quoted, "a\r\nX-Evil: 1", "Idempotency-Key", `"h-`},
		{"NUL", Article(), "a\x00b", "Idempotency-Key", "h-"},
		{"space at the end", Article(), "a ", "Idempotency-Key", "h-"},
		{"no keys", NoKeys(), "k", "Idempotency-Key", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			url := answering(t, func(w http.ResponseWriter, r *http.Request) {
				got <- strings.Join(r.Header.Values(tt.header), ",")
				answer{200, "", "{}"}.serve(w, r)
			})
			req := post(t, url, "x")
			req.Header.Set("Idempotency-Key", "set by the caller") // the client's business, not the caller's
			req.Header["x-idempotency-key"] = []string{"set by the caller"}
			c := newClient(t, tt.profile)
			if _, err := c.Do(req, tt.key, nil); err != nil {
				t.Fatal(err)
			}
			header := <-got
			if header != tt.want && (!strings.Contains(tt.want, "h-") || !strings.HasPrefix(header, tt.want) || len(strings.Trim(header, `"`)) != hashLength) {
				t.Errorf("header %q, want %q", header, tt.want)
			}
		})
	}
	for _, p := range []Profile{Article(), NoKeys()} {
		c, claim := newClient(t, p), &claims{}
		if _, err := c.Do(post(t, "http://127.0.0.1:1", "x"), "", claim); err == nil || claim.told() != "" || !strings.Contains(err.Error(), "key is empty") {
			t.Errorf("empty key: %v, claim %s", err, claim.told())
		}
	}
	if _, err := (Profile{Header: "K", MaxLength: 20}).Sent("k"); err == nil || !strings.Contains(err.Error(), "34") {
		t.Errorf("limit of 20: %v", err)
	}
}

// UNQ-11: a hashed key is as stable and as different as its key.
func TestHashedKeysAreStable(t *testing.T) {
	t.Parallel()
	p, base, seen := PayPalLike(), strings.Repeat("k", 100), map[string]bool{}
	for i := range 1000 {
		key := base + strings.Repeat("x", i)
		one, _ := p.Sent(key)
		two, _ := p.Sent(key)
		if one != two || seen[one] || len(one) > p.MaxLength {
			t.Fatalf("%d: %s, %s", i, one, two)
		}
		seen[one] = true
	}
}
