package store

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseQuery(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"  timeout  ":               "=timeout",
		"kind:import -queue:mail":   "kind=import -queue=mail",
		"kind:import  42":           "kind=import =42",
		`"a b" error:"c: d"`:        "=a b error=c: d",
		`"say \"hi\" \\ \n"`:        `=say "hi" \ \n`,
		`\ ' % _ 50%`:               `=\ =' =% =_ =50%`,
		`"never closed`:             `="never =closed`,
		`"`:                         `="`,
		`-`:                         `=-`,
		`- -x`:                      `=- -=x`,
		`-"a b"`:                    `-=a b`,
		`attempt>3 attempt:<9`:      "attempt>3 attempt<9",
		`ID:7`:                      "id=7",
		`id:9223372036854775807`:    "id=9223372036854775807",
		"10:30 *url.Error :x <y":    "=10:30 =*url.Error =:x =<y",
		"args.order.lines.0:x":      "args(order,lines,0)=x",
		`args."a b":x`:              `=args."a =b":x`,
		"args.total>12.5":           "args(total)>12.5",
		"args:42 -args.a:b":         "args=42 -args(a)=b",
		"tag:x server:y key:k:1":    "tag=x server=y key=k:1",
		"created>2h finished<7d":    "created>2h finished<7d",
		"state:failed é✓":           "state=failed =é✓",
		"created:2026-11-29":        "created=2026-11-29",
		"queue:>x":                  "! cannot compare queue with >",
		"args>3":                    "! cannot compare args with >",
		"args.a>b":                  "! which is no number",
		"colour:red":                "! knows no field \"colour\". Known ones: id, kind, queue, state, attempt, outcome, error, tag, server, version, key, created, finished, args.path",
		"https://example.com":       "! Put text with a colon in quotes",
		"kind.x:y":                  "! knows no field \"kind.x\"",
		"kind:":                     "! no value for kind",
		`kind:""`:                   "! no value for kind",
		"id:x":                      "! no whole number after id",
		"id:99999999999999999999":   "! no whole number after id",
		"id:-1":                     "! no whole number after id",
		"state:faild":               "! unknown state",
		"outcome:Permanent":         "outcome=Permanent",
		"outcome:bad":               "! unknown outcome",
		"outcome>permanent":         "! cannot compare outcome with >",
		"-state:failed":             "! with a dash",
		"state:failed state:failed": "! more than one state",
		"created:2h":                "! with > or <",
		"created>9999d":             "! at most 3650d",
		"created>yesterday":         "! no time after created",
		"created>2026-13-01":        "! no time after created",
		"created>9999-01-01":        "! no time after created",
		"a\x00b":                    "! NUL",
		"a\xffb":                    "! UTF-8",
		strings.Repeat("x", 1001):   "! 1001 bytes; the limit is 1000",
		strings.Repeat("x ", 21):    "! more than 20 terms",
	} {
		q, err := ParseQuery(text)
		got := said(q)
		if err != nil {
			if got = "! " + err.Error(); !errors.As(err, new(*QueryError)) {
				t.Errorf("%q: %T", text, err)
			}
		}
		if problem, bad := strings.CutPrefix(want, "! "); bad && err != nil && strings.Contains(got, problem) {
			continue
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// said writes what was understood.
func said(q Query) string {
	var all []string
	for _, t := range q.terms {
		s := map[bool]string{true: "-"}[t.not]
		if t.field != nil {
			s += t.field.name
		}
		if t.path != nil {
			s += "(" + strings.Join(t.path, ",") + ")"
		}
		all = append(all, s+map[comparison]string{0: "=", equal: "=", greater: ">", less: "<"}[t.op]+t.text)
	}
	return strings.Join(all, " ")
}

func TestQueryTimes_LST15(t *testing.T) {
	t.Parallel()
	ten := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string][2]time.Time{
		"created>2026-11-29T10:00":          {ten, {}},
		"created<2026-11-29T10:00":          {{}, ten},
		"created:2026-11-29T10:00":          {ten, ten.Add(time.Minute)},
		"created:2026-11-29T13:00:00+03:00": {ten, ten.Add(time.Second)},
		"created:2026-11-29":                {ten.Add(-10 * time.Hour), ten.Add(14 * time.Hour)},
	} {
		q, err := ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if v := q.terms[0].value; !v.from.Equal(want[0]) || !v.to.Equal(want[1]) {
			t.Errorf("%s: %s to %s", text, v.from, v.to)
		}
	}
}

// A query can be written again, without its state, and read again as the same.
func TestQueryWritesItself(t *testing.T) {
	t.Parallel()
	const text = `-"a b"   state:failed  error:"x \" y" 7`
	q, err := ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	state, rest := q.State()
	again, err := ParseQuery(rest.String())
	if err != nil || state != Failed || rest.String() != `-"a b" error:"x \" y" 7` || said(again) != said(rest) {
		t.Errorf("%s, %q, %v", state, rest, err)
	}
}

// Values never reach the text of a statement.
func TestQueryTextHoldsNoValues(t *testing.T) {
	t.Parallel()
	const evil = `x');drop--`
	for _, f := range append([]*queryField{anywhere}, queryFields...) {
		if f.takes != anyText && f.takes != jsonValue {
			continue
		}
		for _, path := range [][]string{nil, {evil}} {
			text, args := Query{[]term{{field: f, path: path, op: equal, text: evil}}}.condition(nil, time.Time{}, Hidden{Keys: [][]string{{evil}}, Paths: [][]string{{evil}}})
			if strings.Contains(text, "drop") || len(args) == 0 {
				t.Errorf("%s: %s, %v", f.name, text, args)
			}
		}
	}
}
