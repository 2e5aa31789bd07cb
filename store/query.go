package store

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Query is what somebody typed to search jobs: terms that must all hold. The zero
// value holds for every job. Read one with ParseQuery.
//
// A term is field:value, or text without a field. A dash before it turns it round;
// > and < in place of the colon compare. Quotes keep spaces and colons together,
// and within them \" and \\ stand for one character. Everything else means itself:
// there are no wildcards.
type Query struct{ terms []term }

// QueryError says what cannot be understood, for the person who typed it.
type QueryError struct{ Problem string }

func (e *QueryError) Error() string { return e.Problem }

func badQuery(format string, args ...any) error { return &QueryError{fmt.Sprintf(format, args...)} }

// Limits of one query.
const (
	QueryMax = 1000 // bytes
	termsMax = 20
)

type comparison byte

const (
	equal   comparison = ':'
	greater comparison = '>'
	less    comparison = '<'
)

// term is one condition. source is how it was typed, so that the query can be
// written again without one of its terms.
type term struct {
	not    bool
	field  *queryField
	path   []string // of a value inside args
	op     comparison
	text   string
	value  queryValue
	source string
}

// IsZero reports that there is nothing to look for.
func (q Query) IsZero() bool { return len(q.terms) == 0 }

// String is the query as it was typed, with single spaces.
func (q Query) String() string {
	sources := make([]string, len(q.terms))
	for i, t := range q.terms {
		sources[i] = t.source
	}
	return strings.Join(sources, " ")
}

// State is the state that a term state:… asks for, and the query without it; 0:
// none does. A list holds jobs of one state, so this term chooses the list.
func (q Query) State() (State, Query) {
	i := slices.IndexFunc(q.terms, func(t term) bool { return t.field != nil && t.field.name == "state" })
	if i < 0 {
		return 0, q
	}
	return State(q.terms[i].value.number), Query{slices.Delete(slices.Clone(q.terms), i, i+1)}
}

// Number is the number that is all of the query: it may be meant as a job's id.
func (q Query) Number() (int64, bool) {
	if len(q.terms) != 1 || q.terms[0].field != nil || q.terms[0].not {
		return 0, false
	}
	return jobNumber(q.terms[0].text)
}

// CheckPaths refuses a query that compares a value of args at a hidden path.
func (q Query) CheckPaths(hidden func(path []string) bool) error {
	for _, t := range q.terms {
		if t.path != nil && hidden(t.path) {
			return badQuery("args.%s is hidden here, and cannot be searched", strings.Join(t.path, "."))
		}
	}
	return nil
}

// readsArgs reports that some term looks at all of args.
func (q Query) readsArgs() bool {
	return slices.ContainsFunc(q.terms, func(t term) bool { return t.field == nil || t.field.dotted && t.path == nil })
}

// ParseQuery reads a query. Every error is a *QueryError.
func ParseQuery(text string) (q Query, err error) {
	switch {
	case len(text) > QueryMax:
		return q, badQuery("has %d bytes; the limit is %d", len(text), QueryMax)
	case !utf8.ValidString(text):
		return q, badQuery("is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return q, badQuery("contains a NUL character")
	}
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return q, q.oneState()
		}
		t, rest, err := readTerm(text)
		if err != nil {
			return Query{}, err
		}
		t.source = text[:len(text)-len(rest)]
		if q.terms = append(q.terms, t); len(q.terms) > termsMax {
			return Query{}, badQuery("has more than %d terms", termsMax)
		}
		text = rest
	}
}

func (q Query) oneState() error {
	n := 0
	for _, t := range q.terms {
		if t.field == nil || t.field.name != "state" {
			continue
		}
		if n++; t.not || n > 1 {
			return badQuery("has more than one state, or one with a dash: a list shows the jobs of one state")
		}
	}
	return nil
}

func readTerm(text string) (t term, rest string, err error) {
	if after := strings.TrimPrefix(text, "-"); after != text && after != "" && !isSpace(rune(after[0])) {
		t.not, text = true, after
	}
	name, ok := fieldName(text)
	if !ok {
		t.text, rest = readText(text)
		return t, rest, nil
	}
	base, path, dotted := strings.Cut(name, ".")
	if t.field = fieldNamed(base); t.field == nil || dotted != t.field.dotted && (dotted || t.field.name != "args") {
		return t, "", badQuery("knows no field %q. Known ones: %s. Put text with a colon in quotes", shortened(name), KnownFields())
	}
	if dotted {
		t.path = strings.Split(path, ".")
	}
	text = text[len(name):]
	t.op = comparison(text[0])
	text = text[1:]
	if t.op == equal && text != "" && (text[0] == '>' || text[0] == '<') {
		t.op, text = comparison(text[0]), text[1:]
	}
	if t.text, rest = readText(text); t.text == "" {
		return t, "", badQuery("has no value for %s", name)
	}
	err = t.read()
	return t, rest, err
}

// fieldName is the word before a colon, > or <. What starts with anything but a
// letter is no field: 10:30 and *url.Error are text.
func fieldName(text string) (string, bool) {
	end := strings.IndexAny(text, ":<>\" \t\r\n")
	if end <= 0 || strings.IndexByte(":<>", text[end]) < 0 {
		return "", false
	}
	c := text[0] | 0x20
	return text[:end], c >= 'a' && c <= 'z'
}

// readText reads a word, or what stands in quotes. A quote that is never closed
// means itself.
func readText(text string) (value, rest string) {
	if strings.HasPrefix(text, `"`) {
		var b strings.Builder
		for i := 1; i < len(text); i++ {
			switch c := text[i]; {
			case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
				i++
				b.WriteByte(text[i])
			case c == '"':
				return b.String(), text[i+1:]
			default:
				b.WriteByte(c)
			}
		}
	}
	if end := strings.IndexFunc(text, isSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

func shortened(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
