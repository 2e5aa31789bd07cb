package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"
)

// condition is the query as SQL about a candidate c, "true" when there is nothing
// to look for. Values go to args, whose last place is the last parameter; ages
// count back from asOf, zero meaning the database's now.
func (q Query) condition(args []any, asOf time.Time, hidden Hidden) (string, []any) {
	if q.IsZero() {
		return "true", args
	}
	parts := make([]string, len(q.terms))
	for i, t := range q.terms {
		b := bound{args: args, hidden: hidden}
		text := b.term(t, asOf)
		if args = b.args; t.not {
			text = "not " + text
		}
		parts[i] = text
	}
	return strings.Join(parts, " and "), args
}

var operators = map[comparison]string{equal: "=", greater: ">", less: "<"}

// bound collects parameters.
type bound struct {
	args   []any
	hidden Hidden
}

func (b *bound) add(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("$%d", len(b.args))
}

func (b *bound) term(t term, asOf time.Time) string {
	f := t.field
	if f == nil {
		f = anywhere
	}
	text := f.condition
	if f.dotted && t.path == nil {
		text = "{in args}"
	} else if f.dotted {
		text = strings.Replace(text, "{value}", b.jsonValue(t), 1)
	}
	inArgs := isInShownArgs
	if b.hidden.IsZero() {
		inArgs = isInArgs
	}
	text = strings.Replace(text, "{in args}", inArgs, 1)
	keys, odd := b.hidden.pattern()
	text = strings.ReplaceAll(text, "{op}", operators[t.op])
	for _, p := range []struct {
		name  string
		value func() string
	}{
		{"@whole", func() string { return b.add(isDecimal.MatchString(t.text)) }},
		{"@text", func() string { return b.add(t.text) }},
		{"@keys", func() string { return b.add(keys) }},
		{"@odd", func() string { return b.add(odd) }},
		{"@paths", func() string { return b.add(b.hidden.paths()) }},
		{"@number", func() string { return b.add(t.value.number) }},
		{"@from", func() string { return b.limit(t, greater, t.value.from, "-infinity", asOf) }},
		{"@to", func() string { return b.limit(t, less, t.value.to, "infinity", asOf) }},
	} {
		if strings.Contains(text, p.name) {
			text = strings.ReplaceAll(text, p.name, p.value())
		}
	}
	return "coalesce(" + text + ", false)"
}

// limit is one side of a span of time.
func (b *bound) limit(t term, side comparison, at time.Time, none string, asOf time.Time) string {
	switch {
	case t.value.age != 0 && t.op == side && asOf.IsZero():
		return "(clock_timestamp() - " + b.add(t.value.age.Microseconds()) + "::bigint * interval '1 microsecond')"
	case t.value.age != 0 && t.op == side:
		return b.add(asOf.Add(-t.value.age)) + "::timestamptz"
	case !at.IsZero():
		return b.add(at) + "::timestamptz"
	}
	return "'" + none + "'::timestamptz"
}

// jsonValue compares the value at a path of args, as text and, when it is one, as
// a number: 42 finds 42, "42" and 42.0. Objects and lists are compared with nothing:
// their text would tell of what is hidden in them.
func (b *bound) jsonValue(t term) string {
	path := b.add(pq.Array(t.path)) + "::text[]"
	var either []string
	if t.op == equal {
		either = append(either, "jsonb_typeof(j.args #> "+path+") not in ('object', 'array') and j.args #>> "+path+" = "+b.add(t.text)+"::text")
	}
	if t.value.decimal != "" {
		either = append(either, fmt.Sprintf("case when jsonb_typeof(j.args #> %[1]s) = 'number' then (j.args #>> %[1]s)::numeric %[2]s %[3]s::numeric else false end",
			path, operators[t.op], b.add(t.value.decimal)))
	}
	return "(" + strings.Join(either, " or ") + ")"
}
