package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func nested(depth int) string {
	return `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
}

func TestRawArgsAccepted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:      `{}`,
		" {\n } ": `{}`,
		"{ \"id\" : 1970670598291982290 , \"b\" : [ 1 , -2.50e+3 , true, false,null ] }": `{"id":1970670598291982290,"b":[1,-2.50e+3,true,false,null]}`,
		`{"a":1,"a":2}`: `{"a":1,"a":2}`,
		`{"s":"\ud83d\ude00 😀 \ufffd \u00e9"}`: `{"s":"\ud83d\ude00 😀 \ufffd \u00e9"}`,
		`{"s":"a \"b\" \\ \/ \n"}`:             `{"s":"a \"b\" \\ \/ \n"}`,
		`{"":{"":[[],{}]}}`:                    `{"":{"":[[],{}]}}`,
		nested(MaxArgsDepth):                   nested(MaxArgsDepth),
		`{"n":1e1000}`:                         `{"n":1e1000}`,
	} {
		got, err := checkRawArgs([]byte(in), 0)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

func TestARG01ARG05ARG08RawArgsRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"s":"a\u0000b"}`:               "args $.s: holds the character U+0000",
		`{"a":[1,2,{},{"b":"\u0000"}]}`:  "args $.a[3].b: holds the character U+0000",
		`{"a":{"x\u0000":1}}`:            `args $.a["x\u0000"]: holds the character U+0000`,
		"{\"a\":1,\"s\":\"\xff\"}":       "args $.s: holds bytes that are not valid UTF-8, at byte 12",
		"{\"s\":\"\xed\xa0\x80\"}":       "args $.s: holds bytes",
		"{\"\xff\":1}":                   "args $[\"\ufffd\"]: holds bytes",
		`{"s":"\ud800"}`:                 `args $.s: holds half of a surrogate pair, \ud800`,
		`{"s":["x","\ud800\u0041"]}`:     "args $.s[1]: holds half",
		`{"s":"\udc00\ud800"}`:           "args $.s: holds half",
		nested(MaxArgsDepth + 1):         "args $.a[0][0]",
		nested(9_999):                    "args $.a[0][0]",
		nested(20_000):                   "args $.a[0][0]",
		strings.Repeat(`{"a":`, 200_000): "args $.a.a",
		``:                               "args $: is empty, not a JSON object",
		`null`:                           "args $: is not a JSON object",
		`[1]`:                            "args $: is not a JSON object",
		`"x"`:                            "args $: is not a JSON object",
		`{"a":1} x`:                      "args $: text after the JSON object, at byte 8",
		`{"a":1}{}`:                      "args $: text after",
		`{`:                              "args $: not valid JSON: it ends where a key should follow",
		`{"a"`:                           "args $.a: not valid JSON: it ends where :",
		`{"a":`:                          "args $.a: not valid JSON: it ends where a value",
		`{"a":1`:                         "args $.a: not valid JSON: it ends where , or }",
		`{"a":1,}`:                       "args $: not valid JSON: a key expected at byte 7",
		`{"a":[1,]}`:                     "args $.a[1]: not valid JSON: a value expected",
		`{"a":01}`:                       "args $.a: not valid JSON: , or } expected",
		`{"a":-}`:                        "args $.a: not valid JSON: a digit",
		`{"a":1.}`:                       "args $.a: not valid JSON: a digit",
		`{"a":1e}`:                       "args $.a: not valid JSON: a digit",
		`{"a":tru}`:                      "args $.a: not valid JSON: a value",
		`{"a":"x}`:                       "args $.a: not valid JSON: it ends",
		`{"a":"x\`:                       "args $.a: not valid JSON: it ends",
		`{"a":"\x"}`:                     "args $.a: not valid JSON: unknown escape",
		`{"a":"\u12"}`:                   "args $.a: not valid JSON: \\u without",
		`{"a":"\u+123"}`:                 "args $.a: not valid JSON: \\u without",
		"{\"a\":\"\n\"}":                 "args $.a: not valid JSON: control character 0x0a",
		`{"a":1e1001}`:                   "args $.a: the exponent of number 1e1001 is over the limit of 1000",
		`{"a":1E-99999999999999999999}`:  "args $.a: the exponent",
		`{"a":` + strings.Repeat("9", 20_000) + `}`: "args $.a: a number of 20000 characters: at most 10000",
	} {
		got, err := checkRawArgs([]byte(in), 0)
		var refused *InputError
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), want) || got != "" || len(err.Error()) > 1_000 {
			t.Errorf("%.60s: %v, want %q", in, err, want)
		}
	}
}

func TestArgsLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		ok    bool
	}{
		{`{"a":"xx"}`, 10, true},
		{`{"a":"xxx"}`, 10, false},
		{`{ "a" : "xx" }   `, 10, true},
		{`{"a":[` + strings.Repeat("1,", 20) + `1]}`, 10, false},
		{`{"a":"` + strings.Repeat("x", DefaultArgsLimit) + `"}`, 0, false},
		{`{"a":"` + strings.Repeat("x", DefaultArgsLimit-8) + `"}`, 0, true},
	} {
		_, err := checkRawArgs([]byte(c.in), c.limit)
		if (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), "args $: the JSON text is over the limit of ") {
			t.Errorf("%.40s limit %d: %v", c.in, c.limit, err)
		}
	}
}

func TestEncodeArgs(t *testing.T) {
	t.Parallel()
	type order struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	got, err := encodeArgs(order{1970670598291982290, "<b> \u2028 \ufffd"}, 0)
	if want := `{"id":1970670598291982290,"name":"<b> \u2028 ` + "\ufffd" + `"}`; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for want, v := range map[string]any{
		"args $.name: holds bytes that are not valid UTF-8": order{Name: "a\xffb"},
		"args $.name: holds the character U+0000":           &order{Name: "\x00"},
		"args $: is not a JSON object":                      (*order)(nil),
		"args: chan int has no JSON form":                   make(chan int),
		"args: struct { F func() } has no JSON form":        struct{ F func() }{},
	} {
		if _, err := encodeArgs(v, 0); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestARG03ARG11DecodeArgs(t *testing.T) {
	t.Parallel()
	type inner struct {
		N int `json:"n"`
	}
	type args struct {
		UserID int            `json:"user_id"`
		In     inner          `json:"in"`
		Any    any            `json:"any"`
		Map    map[string]any `json:"map"`
	}
	var v args
	if err := decodeArgs([]byte(`{"user_id":7,"any":1970670598291982290,"map":{"x":0.10}}`), &v); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%v %v", v.Any, v.Map["x"]) != "1970670598291982290 0.10" {
		t.Errorf("digits lost: %v %v", v.Any, v.Map)
	}
	for in, want := range map[string]string{
		`{"user_id":"abc"}`: "args.user_id: cannot read string as int",
		`{"in":{"n":true}}`: "args.in.n: cannot read bool as int",
		`{"user_id":1.5}`:   "args.user_id: cannot read number 1.5 as int",
		`[]`:                "args: cannot read array as jobs.args",
		`{"user_id":`:       "args: unexpected EOF",
	} {
		err := decodeArgs([]byte(in), &v)
		if err == nil || err.Error() != want || errors.Unwrap(err) == nil {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func FuzzRawArgs(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\u00e9"}]}`, `{"a":-0.1e-2}`, `{"\ud83d\ude00":null}`, "{\"a\":\"\xff\"}", `{ } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := checkRawArgs(in, 4096)
		if err == nil {
			var back map[string]any
			if !json.Valid([]byte(out)) || json.Unmarshal([]byte(out), &back) != nil || !utf8.ValidString(out) || strings.ContainsAny(out, "\n\r") {
				t.Errorf("%q accepted as %q", in, out)
			}
			again, err := checkRawArgs([]byte(out), 4096)
			if err != nil || again != out {
				t.Errorf("%q is not stable: %q, %v", out, again, err)
			}
		} else if json.Valid(in) && strings.Contains(err.Error(), "not valid JSON") {
			t.Errorf("%q: %v", in, err)
		}
	})
}
