package idempotency

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Foresight is what can be told of the key that a job will make when its args are
// edited. Keys are made by handlers, so it is judged by the args that occur in the key.
type Foresight int

// The three answers.
const (
	KeyUnclear Foresight = iota // no arg occurs in the key
	KeyStays                    // every arg that occurs in it is as before
	KeyChanges                  // one of them is not
)

// Foresee compares the args under which a job made a key with edited ones. changed
// names the paths of those that occur in the key and differ, such as $.order.id.
func Foresee(key string, args, edited json.RawMessage) (f Foresight, changed []string) {
	before, after := leaves(args), leaves(edited)
	for _, part := range partsOf(key) {
		for _, path := range before.holding(part) {
			f = max(f, KeyStays)
			if now, there := after.text[path]; !there || now != before.text[path] {
				f = KeyChanges
				if !slices.Contains(changed, path) {
					changed = append(changed, path)
				}
			}
		}
	}
	return f, changed
}

var marks = regexp.MustCompile(`(~[vg][0-9]+)+$`)

// partsOf takes a key apart, without the name that NewKey begins with. Of a key of one
// part, which may be a RawKey, that part is all there is.
func partsOf(key string) []string {
	parts := strings.Split(marks.ReplaceAllString(key, ""), ":")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	if len(parts) > 1 {
		parts = parts[1:]
	}
	return parts
}

// scalars are the texts, numbers and booleans of args by their path.
type scalars struct {
	paths []string // sorted
	text  map[string]string
}

// holding gives the paths whose value is the part; if there are none, of those of
// which one holds the other as a word of its own: the 42 of invoice-42.
func (s scalars) holding(part string) (exact []string) {
	var loose []string
	for _, path := range s.paths {
		switch value := s.text[path]; {
		case value == part:
			exact = append(exact, path)
		case value != "" && (occurs(part, value) || occurs(value, part)):
			loose = append(loose, path)
		}
	}
	if exact != nil {
		return exact
	}
	return loose
}

func leaves(args json.RawMessage) scalars {
	s := scalars{text: map[string]string{}}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var root any
	if d.Decode(&root) == nil {
		s.add("$", root)
	}
	slices.Sort(s.paths)
	return s
}

func (s *scalars) add(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			s.add(path+"."+name, one)
		}
		return
	case []any:
		for i, one := range v {
			s.add(path+"["+strconv.Itoa(i)+"]", one)
		}
		return
	case string:
		s.text[path] = v
	case json.Number:
		s.text[path] = v.String()
	case bool:
		s.text[path] = strconv.FormatBool(v)
	default:
		return
	}
	s.paths = append(s.paths, path)
}
