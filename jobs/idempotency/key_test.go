package idempotency_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tekrar/tekrar/jobs/idempotency"
)

func TestKeyIsReadableAndTellsPartsApart(t *testing.T) {
	t.Parallel()
	type order string
	for want, k := range map[string]idempotency.Key{
		"invoice-email:42":           idempotency.NewKey("invoice-email", 42),
		"a:b%3Ac":                    idempotency.NewKey("a", "b:c"),
		"a%3Ab:c":                    idempotency.NewKey("a:b", "c"),
		"a:b:c":                      idempotency.NewKey("a", "b", "c"),
		"a:50%25:%7Ev2":              idempotency.NewKey("a", "50%", "~v2"),
		"a:two%20words":              idempotency.NewKey("a", "two words"),
		"a:7:true:x:https%3A//b.c/d": idempotency.NewKey("a", uint8(7), true, order("x"), &url.URL{Scheme: "https", Host: "b.c", Path: "/d"}),
		"invoice-email:42~v3":        idempotency.NewKey("invoice-email", 42).Version(3),
		"made elsewhere":             idempotency.RawKey("made elsewhere"),
	} {
		if err := k.Err(); err != nil || k.String() != want {
			t.Errorf("%q, %v; want %q", k, err, want)
		}
	}
	if diff := cmp.Diff([]string{"a", "b:c"}, idempotency.NewKey("a", "b:c").Parts()); diff != "" {
		t.Error(diff)
	}
	if k := idempotency.NewKey("a", 1); k.Version(1).String() != k.String() {
		t.Error("version 1 is the key itself")
	}
}

// UNQ-10, and the list of bad input.
func TestUNQ10BadKeysAreRefusedWithFieldAndLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key  idempotency.Key
		says []string
	}{
		"empty":            {idempotency.RawKey(""), []string{"key", "empty", "255"}},
		"zero":             {idempotency.Key{}, []string{"key", "empty"}},
		"256":              {idempotency.RawKey(strings.Repeat("k", 256)), []string{"key", "256 bytes", "at most 255"}},
		"2,704":            {idempotency.NewKey("a", strings.Repeat("k", 2704)), []string{"part 1", "2704 bytes", "at most 255"}},
		"8,000":            {idempotency.NewKey("a", strings.Repeat("k", 8000)), []string{"part 1", "at most 255"}},
		"too long in all":  {idempotency.NewKey(strings.Repeat("a", 128), strings.Repeat("b", 128)), []string{"key", "257 bytes", "at most 255"}},
		"too long escaped": {idempotency.NewKey("a", strings.Repeat(":", 100)), []string{"key", "302 bytes", "at most 255"}},
		"version too long": {idempotency.RawKey(strings.Repeat("k", 254)).Version(2), []string{"key", "257 bytes"}},
		"emoji":            {idempotency.NewKey("a", "order 🎉"), []string{"part 1", "U+1F389", "ASCII"}},
		"umlaut":           {idempotency.NewKey("müll", 1), []string{"name", "U+00FC", "ASCII"}},
		"NUL":              {idempotency.NewKey("a", "b\x00c"), []string{"part 1", "U+0000", "byte 1"}},
		"new line":         {idempotency.RawKey("a\nb"), []string{"key", "U+000A"}},
		"quote":            {idempotency.RawKey(`a"b`), []string{"key", `"`, "quotes"}},
		"apostrophe":       {idempotency.NewKey("a", "o'neil"), []string{"part 1", "quotes"}},
		"invalid UTF-8":    {idempotency.RawKey("a\xffb"), []string{"key", "ASCII"}},
		"outer space":      {idempotency.RawKey(" a"), []string{"key", "space"}},
		"empty part":       {idempotency.NewKey("a", 1, ""), []string{"part 2", "empty"}},
		"nil":              {idempotency.NewKey("a", nil), []string{"part 1", "nil"}},
		"float":            {idempotency.NewKey("a", 1.5), []string{"part 1", "float64"}},
		"version 0":        {idempotency.NewKey("a", 1).Version(0), []string{"version", "0"}},
	} {
		err := c.key.Err()
		var input *idempotency.InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: %v, want an InputError", name, err)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
	}
}

func TestUNQ10LongestKeyIsClaimed(t *testing.T) {
	b := setup(t)
	longest := idempotency.RawKey(strings.Repeat("k", 255))
	b.same(idempotency.Held, b.claim(b.Claims, longest).Result)
	_, err := b.Claim(b.ctx, nil, idempotency.RawKey(strings.Repeat("k", 256)))
	var input *idempotency.InputError
	if !errors.As(err, &input) || input.Field != "key" {
		t.Errorf("%v, want an InputError of the key", err)
	}
	b.same(1, ask[int](b, `select count(*) from tekrar.effect_claims`))
}
