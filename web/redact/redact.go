// Package redact hides values of JSON by the names of their keys or by their paths,
// before a person sees them. What is stored stays as it is.
package redact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Hidden stands where a value was.
const Hidden = "•••"

// Rules say what is hidden. The nil Rules hide DefaultKeys. Safe for concurrent use.
type Rules struct {
	keys  [][]string // words of each key
	paths [][]string
}

// DefaultKeys are hidden unless New is told otherwise.
var DefaultKeys = []string{
	"password", "passwd", "pwd", "passphrase", "secret", "token", "api_key", "apikey", "access_key", "private_key",
	"authorization", "credential", "cookie", "cvv", "cvc", "pin",
}

var byDefault = must(New(DefaultKeys...))

// Default hides DefaultKeys.
func Default() *Rules { return byDefault }

// New makes rules of a list. An entry with a dot is a path from the top of the args:
// "customer.iban", "items.*.card" (* is any key or index); ".iban" is a path of one
// step. Any other is the name of a key, wherever it stands, as whole words in any
// spelling: "api_key" also hides apiKey, API-KEY and client_api_keys, but "pin" hides
// no spinning. No entry hides nothing.
func New(list ...string) (*Rules, error) {
	r := &Rules{}
	for _, entry := range list {
		if strings.Contains(entry, ".") {
			steps := strings.Split(strings.TrimPrefix(strings.TrimPrefix(entry, "$"), "."), ".")
			if slices.Contains(steps, "") {
				return nil, fmt.Errorf("%q is no path such as customer.iban or items.*.card", entry)
			}
			r.paths = append(r.paths, steps)
			continue
		}
		w := words(entry)
		if len(w) == 0 {
			return nil, fmt.Errorf("%q is no name of a key", entry)
		}
		r.keys = append(r.keys, w)
	}
	return r, nil
}

func must(r *Rules, err error) *Rules {
	if err != nil {
		panic(err)
	}
	return r
}

// JSON gives raw with hidden values replaced; keys, their order and every other digit
// stay. null stays, since it is no secret. What is no JSON is hidden as a whole.
func (r *Rules) JSON(raw json.RawMessage) json.RawMessage {
	if r == nil {
		r = byDefault
	}
	if len(raw) == 0 || len(r.keys)+len(r.paths) == 0 {
		return raw
	}
	w := &walk{rules: r, in: raw}
	if !json.Valid(raw) {
		return json.RawMessage(`"` + Hidden + `"`)
	}
	w.value(nil, false)
	if !w.changed {
		return raw
	}
	return w.out
}

// Text is JSON for text that may be JSON, such as a result; other text stays.
func (r *Rules) Text(text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	return string(r.JSON(json.RawMessage(text)))
}

// hides reports that the value at the path is hidden.
func (r *Rules) hides(path []string, inArray bool) bool {
	if len(path) == 0 {
		return false
	}
	if !inArray && r.hidesKey(path[len(path)-1]) {
		return true
	}
	return slices.ContainsFunc(r.paths, func(p []string) bool {
		return slices.EqualFunc(p, path, func(want, is string) bool { return want == "*" || want == is })
	})
}

func (r *Rules) hidesKey(key string) bool {
	has := words(key)
	return slices.ContainsFunc(r.keys, func(want []string) bool {
		for i := range len(has) - len(want) + 1 {
			if slices.EqualFunc(has[i:i+len(want)], want, func(is, want string) bool { return is == want || is == want+"s" }) {
				return true
			}
		}
		return false
	})
}

// words splits a key where its spelling does: accessToken, ACCESS_TOKEN, access-token.
func words(key string) (all []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			all, word = append(all, strings.ToLower(string(word))), nil
		}
	}
	runes := []rune(key)
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
			continue
		case unicode.IsUpper(c) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, c)
	}
	end()
	return all
}
