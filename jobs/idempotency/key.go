package idempotency

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// MaxKeyLength is the most bytes a key may have, versions and generations
// included. It is what common providers take; longer ones are refused before
// anything reaches the database.
const MaxKeyLength = 255

// Key names one effect: the same text whenever the same thing is meant, at every
// attempt and from every process. Make it of what the thing is (invoice 42), never
// of when or by whom it is done.
type Key struct {
	text  string
	parts []string
	raw   bool
	err   error
}

// NewKey joins a name and the parts that tell one thing from another:
// NewKey("invoice-email", 42) is invoice-email:42. In parts ':', '%', '~' and
// spaces are escaped, so that ("a", "b:c") and ("a:b", "c") differ. Parts are strings, integers, booleans,
// or types with a text form (fmt.Stringer, encoding.TextMarshaler).
//
// What is wrong with a key (see Err) is returned by whatever uses it.
func NewKey(name string, parts ...any) Key {
	k := Key{parts: make([]string, 0, len(parts)+1)}
	k.add("name", name)
	for i, p := range parts {
		text, err := partText(p)
		if err != nil && k.err == nil {
			k.err = &InputError{Field: partField(i), Problem: err.Error()}
		}
		k.add(partField(i), text)
	}
	escaped := make([]string, len(k.parts))
	for i, p := range k.parts {
		escaped[i] = escape.Replace(p)
	}
	k.text = strings.Join(escaped, ":")
	return k.checked()
}

// RawKey is a key as given, for keys that another system made. It passes the guard.
func RawKey(s string) Key {
	return Key{text: s, parts: []string{s}, raw: true, err: checkText("key", s)}.checked()
}

// Version is the key for new content of the same thing: an invoice mailed again
// because it was corrected. n counts from 1, which is the key itself.
func (k Key) Version(n int) Key {
	if n < 1 && k.err == nil {
		k.err = &InputError{Field: "version", Problem: fmt.Sprintf("%d is below 1", n)}
	}
	if n > 1 {
		k.text += "~v" + strconv.Itoa(n)
	}
	return k.checked()
}

// String is the key's text.
func (k Key) String() string { return k.text }

// Parts are the name and the parts, not escaped; of a RawKey its whole text.
func (k Key) Parts() []string { return append([]string(nil), k.parts...) }

// Err says why the key cannot be used, as an *InputError; nil if it can.
func (k Key) Err() error {
	if k.err == nil && k.text == "" {
		return &InputError{Field: "key", Problem: "is empty: make it with NewKey"}
	}
	return k.err
}

func (k *Key) add(field, text string) {
	if k.err == nil {
		k.err = checkText(field, text)
	}
	k.parts = append(k.parts, text)
}

func (k Key) checked() Key {
	if k.err == nil && len(k.text) > MaxKeyLength {
		k.err = &InputError{Field: "key", Problem: fmt.Sprintf("has %d bytes: at most %d", len(k.text), MaxKeyLength)}
	}
	return k
}

// withGeneration is the key a provider sees: a deliberate second sending is a new
// operation to it.
func withGeneration(key string, generation int) string {
	if generation <= 1 {
		return key
	}
	return key + "~g" + strconv.Itoa(generation)
}

var escape = strings.NewReplacer(":", "%3A", "%", "%25", "~", "%7E", " ", "%20")

// checkText holds a text to what headers of all providers carry unchanged.
func checkText(field, text string) error {
	switch {
	case text == "":
		return &InputError{Field: field, Problem: fmt.Sprintf("is empty: 1 to %d bytes", MaxKeyLength)}
	case len(text) > MaxKeyLength:
		return &InputError{Field: field, Problem: fmt.Sprintf("has %d bytes: at most %d", len(text), MaxKeyLength)}
	case text[0] == ' ' || text[len(text)-1] == ' ':
		return &InputError{Field: field, Problem: "begins or ends with a space, which headers lose"}
	}
	for i, r := range text {
		problem := ""
		switch {
		case r < 0x20 || r == 0x7f:
			problem = fmt.Sprintf("holds the control character %U at byte %d", r, i)
		case r > 0x7e:
			problem = fmt.Sprintf("holds %U at byte %d: printable ASCII only", r, i)
		case strings.ContainsRune("\"'`\\", r):
			problem = fmt.Sprintf("holds %c at byte %d: no quotes or backslashes", r, i)
		}
		if problem != "" {
			return &InputError{Field: field, Problem: problem}
		}
	}
	return nil
}

func partField(i int) string { return fmt.Sprintf("part %d", i+1) }

func partText(p any) (string, error) {
	if v := reflect.ValueOf(p); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", fmt.Errorf("is nil")
	}
	switch x := p.(type) {
	case string:
		return x, nil
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return "", fmt.Errorf("has no text form: %w", err)
		}
		return string(text), nil
	case fmt.Stringer:
		return x.String(), nil
	}
	switch v := reflect.ValueOf(p); v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	}
	return "", fmt.Errorf("has type %T: a string, an integer, a boolean or a type with a text form", p)
}
