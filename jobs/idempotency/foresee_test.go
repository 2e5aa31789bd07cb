package idempotency_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tekrar/tekrar/jobs/idempotency"
)

func TestForesee(t *testing.T) {
	t.Parallel()
	spaced := idempotency.NewKey("mail", "a b:c").Version(2).String()
	for _, c := range []struct {
		key, args, edited string
		want              idempotency.Foresight
		changed           []string
	}{
		{"invoice-email:42", `{"invoice":42,"note":"x"}`, `{"note":"y","invoice":42}`, idempotency.KeyStays, nil},
		{"invoice-email:42", `{"invoice":42}`, `{"invoice":43}`, idempotency.KeyChanges, []string{"$.invoice"}},
		{"invoice-email:42", `{"invoice":42}`, `{}`, idempotency.KeyChanges, []string{"$.invoice"}},
		{"invoice-email:42", `{"invoice":420}`, `{"invoice":421}`, idempotency.KeyUnclear, nil},
		{"invoice-email:42", `{"to":"ada"}`, `{"to":"bob"}`, idempotency.KeyUnclear, nil},
		// The name of a key is no arg, whatever the args say.
		{"note:42", `{"text":"note","n":42}`, `{"text":"other","n":42}`, idempotency.KeyStays, nil},
		{"order:A:7~g3", `{"order":{"shop":"A","lines":[1,7]}}`, `{"order":{"shop":"A","lines":[1,8]}}`, idempotency.KeyChanges, []string{"$.order.lines[1]"}},
		{"pay:invoice-42", `{"invoice":42}`, `{"invoice":44}`, idempotency.KeyChanges, []string{"$.invoice"}},
		{"raw-key-42", `{"invoice":42}`, `{"invoice":42,"x":1}`, idempotency.KeyStays, nil},
		{spaced, `{"who":"a b:c"}`, `{"who":"a b"}`, idempotency.KeyChanges, []string{"$.who"}},
		// 19 digits differ in the last one.
		{"ledger:1970670598291982290", `{"id":1970670598291982290}`, `{"id":1970670598291982291}`, idempotency.KeyChanges, []string{"$.id"}},
		{"k:true", `{"a":true,"b":null}`, `{"a":false}`, idempotency.KeyChanges, []string{"$.a"}},
		{"k:", `{"a":""}`, `{"a":"x"}`, idempotency.KeyChanges, []string{"$.a"}},
		{"k:1", `not json`, `{}`, idempotency.KeyUnclear, nil},
	} {
		got, changed := idempotency.Foresee(c.key, json.RawMessage(c.args), json.RawMessage(c.edited))
		if got != c.want || !slices.Equal(changed, c.changed) {
			t.Errorf("%s, %s to %s: %d %q, want %d %q", c.key, c.args, c.edited, got, changed, c.want, c.changed)
		}
	}
}
