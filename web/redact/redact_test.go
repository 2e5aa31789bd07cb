package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHiddenByKeyAndPath(t *testing.T) {
	t.Parallel()
	list := append([]string{"customer.iban", "items.*.card", ".plan"}, DefaultKeys...)
	r, err := New(list...)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"password":"hunter2"}`:                          `{"password":"•••"}`,
		`{"userPassword": "x", "n": 1970670598291982290}`: `{"userPassword": "•••", "n": 1970670598291982290}`,
		`{"API-KEY":[1,{"a":"]}"}],"z":1}`:                `{"API-KEY":"•••","z":1}`,
		`{"clientApiKeys":{"a":"\"}"}}`:                   `{"clientApiKeys":"•••"}`,
		`{"a":[{"token":true},{"token":null}]}`:           `{"a":[{"token":"•••"},{"token":null}]}`,
		`{"customer":{"iban":"DE02"},"iban":"DE02"}`:      `{"customer":{"iban":"•••"},"iban":"DE02"}`,
		`{"items":[{"card":4111},{"card":"5"}],"card":7}`: `{"items":[{"card":"•••"},{"card":"•••"}],"card":7}`,
		`{"plan":"x","a":{"plan":"y"}}`:                   `{"plan":"•••","a":{"plan":"y"}}`,
		`{"spinning":1,"tokenizer":2,"secretary":3}`:      `{"spinning":1,"tokenizer":2,"secretary":3}`,
		"{\"pass\\u0077ord\":\"x\"}":                      "{\"pass\\u0077ord\":\"•••\"}",
		` [ { "secret" : [ 1 , 2 ] } , -1.50e+3 ] `:       ` [ { "secret" : "•••" } , -1.50e+3 ]`,
		`"password"`: `"password"`, `{}`: `{}`, `[]`: `[]`, `7`: `7`, `{"a":{"b":[]}}`: `{"a":{"b":[]}}`,
		`{"password":`: `"•••"`,
	} {
		if got := string(r.JSON(json.RawMessage(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	if got := string((*Rules)(nil).JSON(json.RawMessage(`{"token":"x"}`))); strings.Contains(got, "x") {
		t.Errorf("no rules must mean the default ones: %s", got)
	}
	none, _ := New()
	if got := string(none.JSON(json.RawMessage(`{"token":"x"}`))); got != `{"token":"x"}` {
		t.Errorf("an empty list hides nothing: %s", got)
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "--", ".", "a..b", "$."} {
		if _, err := New(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	stored := json.RawMessage(`{"to":"a","password":"hunter2","list":[{"token":1970670598291982290}]}`)
	out, lost := Default().Restore(json.RawMessage(`{"to":"b","password":"•••","list":[{"token":"•••"}]}`), stored)
	if want := `{"to":"b","password":"hunter2","list":[{"token":1970670598291982290}]}`; string(out) != want || lost != nil {
		t.Errorf("got %s, lost %v", out, lost)
	}
	out, _ = Default().Restore(json.RawMessage(`{"password":"new"}`), stored)
	if string(out) != `{"password":"new"}` {
		t.Errorf("what was typed is gone: %s", out)
	}
	if _, lost = Default().Restore(json.RawMessage(`{"list":[{},{"token":"•••"}]}`), stored); len(lost) != 1 || lost[0] != "list.1.token" {
		t.Errorf("lost %v", lost)
	}
}

// No input may panic, and nothing hidden may come through.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"password":[{"a":"\\"}]}`, `[1,2,{"token":{}}]`, `{"a" : "b\"c" }`, `{"password":"canary"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := Default().JSON(json.RawMessage(in))
		if len(in) > 0 && !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		Default().Restore(json.RawMessage(in), json.RawMessage(in))
	})
}
