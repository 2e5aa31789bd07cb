package store

import (
	"encoding/json"
	"slices"
	"strings"
)

// Hidden says which values of args a search does not look at: whoever may not see a
// value may not find it out by searching either. The zero value hides nothing.
type Hidden struct {
	// Keys are names of keys, each as its words in lower case: apiKey is api, key.
	// A key that has these words in a row, each also with an s, hides what is below it.
	Keys [][]string `json:"keys,omitempty"`
	// Paths lead from the top of args to what they hide; * is any key or index.
	Paths [][]string `json:"paths,omitempty"`
}

// IsZero reports that nothing is hidden.
func (h Hidden) IsZero() bool { return len(h.Keys)+len(h.Paths) == 0 }

// pattern finds the words of a hidden key among those of a key between spaces. odd:
// some name cannot be found in that way, since SQL does not know its letters in
// every locale; then keys outside of ASCII are hidden, whatever they say.
func (h Hidden) pattern() (text string, odd bool) {
	var each []string
	for _, words := range h.Keys {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789") != "" }) {
			odd = true
			continue
		}
		each = append(each, strings.Join(words, "s? ")+"s?")
	}
	if each == nil {
		return "^$", odd // there are always spaces
	}
	return " (" + strings.Join(each, "|") + ") ", odd
}

func (h Hidden) paths() string {
	text, err := json.Marshal(h.Paths)
	if err != nil || h.Paths == nil {
		return "[]"
	}
	return string(text)
}

// keyWords are the words of a key between spaces, split where its spelling does.
// Collation C, because others have letters of their own between a and Z.
const keyWords = `' ' || lower(regexp_replace(regexp_replace(o.key collate "C",
	'(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])', ' ', 'g'), '[^A-Za-z0-9]+', ' ', 'g') collate "C") || ' '`

// isInShownArgs is isInArgs without what is hidden. The walk down from the top costs
// more than looking at every value, so only jobs that have the text at all are walked.
const isInShownArgs = `exists (select 1 from tekrar.jobs j where j.id = c.job_id and case when ` + isInValues + ` then exists (
	with recursive shown as (
		select j.args as value, array[]::text[] as path
		union all
		select step.value, shown.path || step.key from shown cross join lateral (
			select o.key, o.value from jsonb_each(case jsonb_typeof(shown.value) when 'object' then shown.value else '{}' end) o
			where (` + keyWords + `) !~ @keys::text and not (@odd::boolean and o.key ~ '[^\x01-\x7f]')
			union all
			select (a.n - 1)::text, a.value
			from jsonb_array_elements(case jsonb_typeof(shown.value) when 'array' then shown.value else '[]' end) with ordinality a(value, n)
		) step
		where not exists (select 1 from jsonb_array_elements(@paths::text::jsonb) rule
			where jsonb_array_length(rule) = cardinality(shown.path) + 1 and not exists (
				select 1 from jsonb_array_elements_text(rule) with ordinality s(want, n) where s.want not in ('*', (shown.path || step.key)[s.n])))
	)
	select 1 from (select value as v from shown where jsonb_typeof(value) not in ('object', 'array')) s where ` + valueIs + `
	) else false end)`
