package redact

import (
	"strings"
	"testing"
)

func TestHidesPath(t *testing.T) {
	t.Parallel()
	r, err := New("secret", "customer.iban", "items.*.card", "list.0.x")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"customer": false, "customer.iban": true, "customer.iban.x": true, "customer.name": false, "a.customer.iban": false,
		"items.3.card": true, "items.-1.card": true, "items.card": false, "client_secrets": true, "a.clientSecret.b": true,
		"list.0.x": true, "list.00.x": true, "list. 0.x": true, "list.+0.x": true, "list.-2.x": true, "list.1.x": false, "list.0": false,
	} {
		if got := r.HidesPath(strings.Split(path, ".")); got != want {
			t.Errorf("%s: hidden is %v", path, got)
		}
	}
	var none *Rules
	if !none.HidesPath([]string{"login", "password"}) || none.HidesPath([]string{"login", "user"}) {
		t.Error("no rules are not the default ones")
	}
	keys, paths := none.Parts()
	if len(keys) != len(DefaultKeys) || len(paths) != 0 {
		t.Errorf("parts: %v, %v", keys, paths)
	}
}
